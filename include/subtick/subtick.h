/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contexts, windows and errors of libsubtick. The functions that open a context are in load.h,
 * runq.h and noise.h.
 */
#ifndef SUBTICK_SUBTICK_H
#define SUBTICK_SUBTICK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * A running measurement (context). The caller owns the context and frees it with subtick_close().
 *
 * Functions that return int return 0 or -errno. A function that fails leaves its result arguments
 * unchanged. If an argument is NULL, a function returns -EINVAL, 0 rows or NULL, depending on its
 * return type.
 *
 * Different threads may use a context one after the other, but not at the same time. Different
 * contexts are independent. subtick(3) describes fork, signals and privileges.
 */
struct subtick;
/*
 * Window: the values that a context measured in one time interval. The context owns the struct
 * subtick_window. The window and its strings are valid until the next read, service or close of the
 * context.
 */
struct subtick_window;

/*
 * Ends the current window and begins the next window without a gap. The first window begins when
 * the context is opened.
 */
int subtick_read(struct subtick *ctx, const struct subtick_window **ret_window);
/* Detaches all BPF programs and frees the context and its window. @ctx may be NULL. */
void subtick_close(struct subtick *ctx);
/*
 * Returns a descriptor, owned by the context, to poll between two reads. Only contexts of runq have
 * a descriptor; for all other contexts the result is -EOPNOTSUPP.
 */
int subtick_fd(const struct subtick *ctx);
/*
 * subtick_service() allocates memory for new cgroups and fills the list SUBTICK_LONG_WAITS. Call
 * subtick_service() when the descriptor of subtick_fd() is readable. @ret_window may be NULL.
 */
int subtick_service(struct subtick *ctx, const struct subtick_window **ret_window);

/*
 * If this thread's last open, read, fd or service call failed, subtick_error() returns the cause
 * and subtick_error_fix() returns a fix. The text is "" if the last call succeeded, or if the cause
 * or fix is unknown. The text is valid until this thread's next open, read, fd or service call.
 * Functions that read a window do not change the text.
 */
const char *subtick_error(void);
const char *subtick_error_fix(void);

/*
 * Lists of rows in a window. A row contains the values of one CPU, group, noise source or wait,
 * depending on the list. A list that the options do not request has no rows.
 */
enum subtick_list {
	SUBTICK_WINDOW = 1, /* one row with the values that describe the whole window */
	/* number of lost events by reason (SUBTICK_NAME, SUBTICK_COUNT) since the open call */
	SUBTICK_LOSSES,
	SUBTICK_CPUS, /* load: row N is CPU N. noise: one row per requested CPU */
	/* runq: one row per group as selected by `per`, the largest sum of wait times first */
	SUBTICK_GROUPS,
	SUBTICK_BLAME,	  /* runq: pairs of victim and culprit; row N is the victim in pair N */
	SUBTICK_BLAME_BY, /* runq: row N is the culprit in pair N of SUBTICK_BLAME */
	/* runq: one row per cgroup, with the wall time in which tasks of the cgroup waited */
	SUBTICK_PRESSURE,
	SUBTICK_IDLE_STATES, /* runq: waits for idle CPUs by group and idle state */
	/* runq: one row per wait of at least threshold_ns that the last subtick_service() read */
	SUBTICK_LONG_WAITS,
	SUBTICK_LONG_WAITS_BY, /* runq: row N is the culprit of wait N in SUBTICK_LONG_WAITS */
	SUBTICK_SOURCES,       /* noise: one row per noise source and CPU, most time first */
	SUBTICK_VICTIMS,       /* noise: cgroups that lost CPU time, most time first */
	SUBTICK_DELAYS,	       /* noise: delays of softirqs from raise to run, by CPU and vector */
	SUBTICK_FUNCTIONS,     /* noise: one row per workqueue function and CPU, most time first */
	SUBTICK_SENDERS,       /* noise: IPIs by receiving and sending CPU */
	SUBTICK_CALLS,	       /* noise: function calls by receiving and sending CPU */
};

/*
 * Kind of group or culprit that a row describes. Only rows with SUBTICK_WHO_GROUP have an id and
 * names. In rows with another value, SUBTICK_CGROUP is a word such as "(idle)".
 */
enum subtick_who {
	SUBTICK_WHO_GROUP,
	SUBTICK_WHO_ENDED,	/* a group that ended before subtick read its name */
	SUBTICK_WHO_IDLE,	/* culprit: the idle state that the core had to leave */
	SUBTICK_WHO_KTHREADS,	/* culprit: kernel threads */
	SUBTICK_WHO_QUOTA,	/* culprit: the CPU quota of the victim's or a parent cgroup */
	SUBTICK_WHO_UNKNOWN,	/* no culprit: the wait began before the first recorded switch */
	SUBTICK_WHO_OTHER_CORE, /* no culprit: the task waited in another core's run queue */
	SUBTICK_WHO_OTHER,	/* all groups that have no separate row */
	SUBTICK_WHO_EXCLUDED,	/* groups that a rule excludes */
};

/*
 * Keys of the values in a row. Times are in ns. Ratios are from 0 to 1. Keys whose value is an enum
 * can be read as a number and as a text. The values of SUBTICK_NAMESPACE to SUBTICK_IMAGE come from
 * files of kubelet and container runtimes.
 */
enum subtick_key {
	SUBTICK_WINDOW_NS = 1,
	SUBTICK_TIME_UNIX_NS, /* Unix time at the end of the window */
	SUBTICK_SOURCE,	      /* enum subtick_load_source, enum subtick_runq_source, or text */
	SUBTICK_HIERARCHY,    /* version of the cgroup hierarchy: 1 or 2 (text "v1", "v2") */
	SUBTICK_SAMPLE_RATIO,
	/* sum of the measured waits ÷ sum of the kernel's run_delay (1: no wait was missed) */
	SUBTICK_SCHEDSTAT_RATIO,
	SUBTICK_CPU,
	SUBTICK_FLAGS, /* enum subtick_flag */

	/* Keys of a group. */
	SUBTICK_WHO, /* enum subtick_who */
	/* path; name of a group of cgroups, such as a namespace; or a word such as "(idle)" */
	SUBTICK_CGROUP,
	SUBTICK_CGROUP_ID,
	SUBTICK_POD_UID,
	SUBTICK_CONTAINER_ID,
	SUBTICK_QOS,
	SUBTICK_NAMESPACE,
	SUBTICK_POD,
	SUBTICK_CONTAINER,
	SUBTICK_IMAGE,
	SUBTICK_PID,
	SUBTICK_TGID,
	SUBTICK_COMM,
	SUBTICK_ENDED, /* 1 if the group no longer existed at the end of the window */

	/* Keys of waits, events and losses. */
	SUBTICK_NAME,
	SUBTICK_COUNT,
	SUBTICK_SUM_NS,
	SUBTICK_AVG_NS,
	SUBTICK_MAX_NS,
	SUBTICK_P99_NS,
	SUBTICK_WAIT_NS,
	SUBTICK_END_NS,		    /* CLOCK_MONOTONIC at the end of the wait */
	SUBTICK_COUNT_STDERR_RATIO, /* with sampling: (standard error of COUNT) ÷ COUNT */
	SUBTICK_SUM_STDERR_RATIO,   /* with sampling: (standard error of SUM_NS) ÷ SUM_NS */

	/* Parts of SUM_NS in SUBTICK_GROUPS, available with the flag SUBTICK_RUNQ_CAUSES. */
	SUBTICK_IDLE_EXIT_NS,
	SUBTICK_SAME_GROUP_NS,
	SUBTICK_OTHER_GROUP_NS,
	SUBTICK_KERNEL_THREAD_NS,
	SUBTICK_PREEMPTED_NS,
	SUBTICK_THROTTLED_NS,
	SUBTICK_MIGRATED_NS,
	SUBTICK_UNKNOWN_NS,

	/*
	 * Keys of SUBTICK_PRESSURE. SUBTICK_WAITING_NS is the wall time in which at least one task
	 * of the cgroup waited. SUBTICK_STALLED_NS is the part of SUBTICK_WAITING_NS in which no
	 * task of the cgroup ran. Keys such as SUBTICK_WAITING_QUOTA_NS split SUBTICK_WAITING_NS
	 * and SUBTICK_STALLED_NS by cause.
	 */
	SUBTICK_WAITING_NS,
	SUBTICK_WAITING_CONTENTION_NS,
	SUBTICK_WAITING_KERNEL_THREAD_NS,
	SUBTICK_WAITING_IDLE_EXIT_NS,
	SUBTICK_WAITING_QUOTA_NS,
	SUBTICK_STALLED_NS,
	SUBTICK_STALLED_CONTENTION_NS,
	SUBTICK_STALLED_KERNEL_THREAD_NS,
	SUBTICK_STALLED_IDLE_EXIT_NS,
	SUBTICK_STALLED_QUOTA_NS,
	SUBTICK_PSI_WAITING_NS, /* PSI of the kernel, which includes throttling by quota */
	SUBTICK_PSI_STALLED_NS,

	/* Keys of SUBTICK_IDLE_STATES. */
	SUBTICK_STATE,	    /* number: index of the idle state; text: name of the idle state */
	SUBTICK_CLAIMED_NS, /* exit latency of the idle state according to the cpuidle driver */

	/* Keys of the list SUBTICK_CPUS of load. Each value is a part of the window's length. */
	SUBTICK_BUSY_RATIO,
	SUBTICK_TASK_RATIO,
	SUBTICK_HARDIRQ_RATIO,
	SUBTICK_SOFTIRQ_ON_IDLE_RATIO,
	SUBTICK_SOFTIRQ_ON_TASK_RATIO,
	SUBTICK_KSOFTIRQD_RATIO,
	SUBTICK_IDLE_LOOP_RATIO,
	SUBTICK_STEAL_RATIO, /* time taken by the hypervisor; not part of BUSY_RATIO */
	SUBTICK_UNKNOWN_RATIO,
	SUBTICK_POLL_IDLE_RATIO,
	SUBTICK_IDLE_RATIO,
	/* |sum of all parts − length of the window| ÷ length of the window */
	SUBTICK_CLOSURE_ERROR_RATIO,

	/* Keys of the lists of noise. */
	SUBTICK_KIND, /* enum subtick_noise_kind */
	SUBTICK_IRQ,  /* interrupt number, only for kind SUBTICK_NOISE_IRQ */
	SUBTICK_ADVICE, /* setting that would move the noise source to another core */
	SUBTICK_HARDIRQ_NS,
	SUBTICK_SOFTIRQ_NS,
	SUBTICK_KTHREAD_NS,
	SUBTICK_TASK_NS,
	SUBTICK_STEAL_NS,
	SUBTICK_DELAY_COUNT, /* SUBTICK_FUNCTIONS: number of delays from queueing to execution */
	SUBTICK_DELAY_SUM_NS,
	SUBTICK_DELAY_MAX_NS,
	SUBTICK_FROM_CPU,

	/*
	 * Keys of SUBTICK_GROUPS, available with the flag SUBTICK_RUNQ_AVOIDABLE. AVOIDABLE_NS and
	 * AVOIDABLE_MOST_NS are the lower and upper bound of the time that tasks waited while
	 * another CPU that they may use was idle. EXCLUDED_NS is the time that tasks waited while
	 * the only idle CPUs were outside their affinity or cpuset.
	 */
	SUBTICK_AVOIDABLE_NS,
	SUBTICK_AVOIDABLE_MOST_NS,
	SUBTICK_EXCLUDED_NS,
};

/* Bits of SUBTICK_FLAGS. */
enum subtick_flag {
	/* the hardware counter was shared with other events, and the counter's value was scaled */
	SUBTICK_MULTIPLEXED = 1 << 0,
	SUBTICK_READ_FAILED = 1 << 1, /* no figure: reading the load source failed */
	SUBTICK_OFFLINE = 1 << 2,     /* no figure: the CPU is offline */
	/* no figure: the CPU went offline or online inside the window */
	SUBTICK_HOTPLUGGED = 1 << 3,
	SUBTICK_TORN = 1 << 4,	  /* no figure: the core's data changed during every read */
	SUBTICK_NO_TIME = 1 << 5, /* no figure: the source's clock did not advance */
	/* unknown whether the hardware event counts at a constant rate */
	SUBTICK_NOT_CONSTANT = 1 << 6,
	/* a ratio of the row was below 0 or above 1 by more than 0.1 %, and was set to 0 or 1 */
	SUBTICK_CLAMPED = 1 << 7,
	SUBTICK_RESTARTED = 1 << 8, /* no figure: the hardware counter was lost and reopened */
};

/* Returns the number of rows of @list, or 0 if the context does not fill @list. */
size_t subtick_rows(const struct subtick_window *window, enum subtick_list list);
/*
 * Store the value of @key from row @row of @list in *@ret_value. Return -EINVAL if the row does not
 * exist, the list does not have the key, or the value has another type. Return -ENODATA if the
 * value was not measured in this window, was not requested, or is unavailable with this kernel or
 * source. subtick_double() also converts integers.
 */
int subtick_u64(const struct subtick_window *window, enum subtick_list list, size_t row,
		enum subtick_key key, uint64_t *ret_value);
int subtick_double(const struct subtick_window *window, enum subtick_list list, size_t row,
		   enum subtick_key key, double *ret_value);
/*
 * Returns the text of a key in a row, owned by the window, or NULL if the row does not have the
 * key.
 */
const char *subtick_text(const struct subtick_window *window, enum subtick_list list, size_t row,
			 enum subtick_key key);
/*
 * Stores in ns the percentile (0 to 100) of the wait times in a row of SUBTICK_GROUPS. The error of
 * *ret_ns is at most 3.125 %, and *ret_ns never exceeds SUBTICK_MAX_NS. Returns -ENODATA if the row
 * has no waits.
 */
int subtick_percentile(const struct subtick_window *window, enum subtick_list list, size_t row,
		       double percent, double *ret_ns);
/*
 * Stores histogram boundary number @bucket in *@ret_le_ns. Stores in *@ret_count the exact number
 * of waits up to this boundary in a row of SUBTICK_GROUPS. Returns -ERANGE if @bucket is not
 * smaller than the number of histogram boundaries.
 */
int subtick_bucket(const struct subtick_window *window, enum subtick_list list, size_t row,
		   size_t bucket, uint64_t *ret_le_ns, uint64_t *ret_count);

/*
 * Names of keys and lists as in the JSON output of subtick, such as "sum_ns"; NULL if the number is
 * unknown. The strings are constant.
 */
const char *subtick_key_name(enum subtick_key key);
const char *subtick_list_name(enum subtick_list list);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
