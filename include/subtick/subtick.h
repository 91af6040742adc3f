/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Contexts, windows and errors of libsubtick; load.h, runq.h and noise.h open contexts. */
#ifndef SUBTICK_SUBTICK_H
#define SUBTICK_SUBTICK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * Functions that return int return 0 or -errno. Results are untouched on failure. A NULL argument
 * never crashes: the function returns -EINVAL, 0 rows or NULL, by its return type.
 *
 * One context belongs to one thread at a time: calls on the same context must not overlap. Different
 * contexts are independent. See subtick(3) for fork, signals and privileges.
 */
struct subtick;
/* Figures of a context. Owned by the context, valid until its next read, service or close. */
struct subtick_window;

/* Ends the window and begins the next one without a gap. The first window begins at open. */
int subtick_read(struct subtick *ctx, const struct subtick_window **ret_window);
void subtick_close(struct subtick *ctx);
/*
 * subtick_fd() returns a descriptor to poll between two reads, owned by the context. Only contexts of
 * runq have a descriptor, all others return -EOPNOTSUPP. When it is readable, call subtick_service(),
 * which makes room for new cgroups and fills SUBTICK_LONG_WAITS. @ret_window may be NULL.
 */
int subtick_fd(const struct subtick *ctx);
int subtick_service(struct subtick *ctx, const struct subtick_window **ret_window);

/*
 * Cause and fix of the last failed open, read, fd or service of this thread, or "". Valid until the
 * next such call of this thread. Accessors of windows leave them unchanged.
 */
const char *subtick_error(void);
const char *subtick_error_fix(void);

/* Lists of a window. Lists that the options do not request are empty. */
enum subtick_list {
	SUBTICK_WINDOW = 1,    /* one row: the window itself */
	SUBTICK_LOSSES,	       /* each loss counter: NAME, and COUNT since open */
	SUBTICK_CPUS,	       /* load: row N is CPU N. noise: the requested CPUs */
	SUBTICK_GROUPS,	       /* runq: cgroups, or the units of `per`; largest sum first */
	SUBTICK_BLAME,	       /* runq: victims by group, largest culprit first */
	SUBTICK_BLAME_BY,      /* runq: row N is the culprit of row N of SUBTICK_BLAME */
	SUBTICK_PRESSURE,      /* runq: wall time in which tasks of a cgroup waited */
	SUBTICK_IDLE_STATES,   /* runq: waits for idle CPUs by group and idle state */
	SUBTICK_LONG_WAITS,    /* runq: waits above the threshold, read by the last service */
	SUBTICK_LONG_WAITS_BY, /* runq: row N is the culprit of row N of SUBTICK_LONG_WAITS */
	SUBTICK_SOURCES,       /* noise: sources by CPU, most time first */
	SUBTICK_VICTIMS,       /* noise: cgroups that lost time, most first */
	SUBTICK_DELAYS,	       /* noise: softirqs from raise to run, by CPU and vector */
	SUBTICK_FUNCTIONS,     /* noise: workqueue functions by CPU, most time first */
	SUBTICK_SENDERS,       /* noise: IPIs by receiving and sending CPU */
	SUBTICK_CALLS,	       /* noise: function calls by receiving and sending CPU */
};

/* Kinds of groups. Only SUBTICK_PARTY_GROUP has id and names; all others have a word in CGROUP. */
enum subtick_party {
	SUBTICK_PARTY_GROUP,
	SUBTICK_PARTY_ENDED, /* ended before its name was read */
	SUBTICK_PARTY_IDLE,
	SUBTICK_PARTY_KTHREADS,
	SUBTICK_PARTY_QUOTA,
	SUBTICK_PARTY_UNKNOWN,
	SUBTICK_PARTY_OTHER_CORE, /* the task waited in another core's run queue */
	SUBTICK_PARTY_OTHER,	  /* groups without a row of their own */
	SUBTICK_PARTY_EXCLUDED,	  /* excluded by a rule */
};

/*
 * Figures of a row. Times are in ns, ratios from 0 to 1. Enum keys have a number and a text.
 * NAMESPACE to IMAGE come from kubelet and container runtimes.
 */
enum subtick_key {
	SUBTICK_WINDOW_NS = 1,
	SUBTICK_TIME_UNIX_NS, /* the end of the window */
	SUBTICK_SOURCE,	      /* enum subtick_load_source, enum subtick_runq_source, or text */
	SUBTICK_HIERARCHY,    /* 1 or 2: cgroup v1 or v2; text "v1", "v2" */
	SUBTICK_SAMPLE_RATIO,
	SUBTICK_SCHEDSTAT_RATIO, /* observed waits ÷ kernel run_delay; near 1 if no wait was missed */
	SUBTICK_CPU,
	SUBTICK_FLAGS, /* enum subtick_flag */

	/* A group. */
	SUBTICK_PARTY,	/* enum subtick_party */
	SUBTICK_CGROUP, /* path; name of a sum, such as a namespace; or a word, such as "(idle)" */
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
	SUBTICK_ENDED, /* 1: the group had ended at the end of the window */

	/* Events. */
	SUBTICK_NAME,
	SUBTICK_COUNT,
	SUBTICK_SUM_NS,
	SUBTICK_AVG_NS,
	SUBTICK_MAX_NS,
	SUBTICK_P99_NS,
	SUBTICK_WAIT_NS,
	SUBTICK_END_NS,		    /* CLOCK_MONOTONIC */
	SUBTICK_COUNT_STDERR_RATIO, /* with sampling */
	SUBTICK_SUM_STDERR_RATIO,

	/* Parts of SUM_NS in SUBTICK_GROUPS, with SUBTICK_RUNQ_CAUSES. */
	SUBTICK_IDLE_EXIT_NS,
	SUBTICK_SAME_GROUP_NS,
	SUBTICK_OTHER_GROUP_NS,
	SUBTICK_KERNEL_THREAD_NS,
	SUBTICK_PREEMPTED_NS,
	SUBTICK_THROTTLED_NS,
	SUBTICK_MIGRATED_NS,
	SUBTICK_UNKNOWN_NS,

	/* SUBTICK_PRESSURE. WAITING: at least one task waited. STALLED: a task waited, and none ran. */
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
	SUBTICK_PSI_WAITING_NS, /* kernel's own figures, which include quota */
	SUBTICK_PSI_STALLED_NS,

	/* SUBTICK_IDLE_STATES. */
	SUBTICK_STATE,	    /* index; text: its name */
	SUBTICK_CLAIMED_NS, /* exit latency that the driver claims */

	/* SUBTICK_CPUS of load: parts of the window. */
	SUBTICK_BUSY_RATIO,
	SUBTICK_TASK_RATIO,
	SUBTICK_HARDIRQ_RATIO,
	SUBTICK_SOFTIRQ_ON_IDLE_RATIO,
	SUBTICK_SOFTIRQ_ON_TASK_RATIO,
	SUBTICK_KSOFTIRQD_RATIO,
	SUBTICK_IDLE_LOOP_RATIO,
	SUBTICK_STEAL_RATIO, /* taken by the hypervisor; not part of BUSY_RATIO */
	SUBTICK_UNKNOWN_RATIO,
	SUBTICK_POLL_IDLE_RATIO,
	SUBTICK_IDLE_RATIO,
	SUBTICK_CLOSURE_ERROR_RATIO, /* |sum of the parts − window| ÷ window */

	/* noise. */
	SUBTICK_KIND, /* enum subtick_noise_kind */
	SUBTICK_IRQ,  /* only kind SUBTICK_NOISE_IRQ */
	SUBTICK_KNOB, /* setting that would move the source to another core */
	SUBTICK_HARDIRQ_NS,
	SUBTICK_SOFTIRQ_NS,
	SUBTICK_KTHREAD_NS,
	SUBTICK_TASK_NS,
	SUBTICK_STEAL_NS,
	SUBTICK_DELAY_COUNT, /* SUBTICK_FUNCTIONS: delay from queueing to execution */
	SUBTICK_DELAY_SUM_NS,
	SUBTICK_DELAY_MAX_NS,
	SUBTICK_FROM_CPU,

	/*
	 * SUBTICK_GROUPS with SUBTICK_RUNQ_AVOIDABLE. AVOIDABLE_NS, AVOIDABLE_MOST_NS: lower and upper
	 * bound of the waits while another CPU that the task may use was idle. EXCLUDED_NS: waits while
	 * the only idle CPUs were outside the task's affinity or cpuset.
	 */
	SUBTICK_AVOIDABLE_NS,
	SUBTICK_AVOIDABLE_MOST_NS,
	SUBTICK_EXCLUDED_NS,
};

/* Bits of SUBTICK_FLAGS. */
enum subtick_flag {
	SUBTICK_MULTIPLEXED = 1 << 0,  /* the counter was shared with other events; scaled */
	SUBTICK_READ_FAILED = 1 << 1,  /* no figure */
	SUBTICK_OFFLINE = 1 << 2,      /* no figure */
	SUBTICK_HOTPLUGGED = 1 << 3,   /* no figure: went off- or online inside the window */
	SUBTICK_TORN = 1 << 4,	       /* no figure: data changed during every attempt to read it */
	SUBTICK_NO_TIME = 1 << 5,      /* no figure: the source's clock did not advance */
	SUBTICK_NOT_CONSTANT = 1 << 6, /* the event is not known to run at the clock's rate */
	SUBTICK_CLAMPED = 1 << 7,      /* the value was outside 0…1 by more than 0.1 % */
	SUBTICK_RESTARTED = 1 << 8,    /* no figure: the counter was lost and opened again */
};

/* Number of rows; 0 for lists of other contexts. */
size_t subtick_rows(const struct subtick_window *window, enum subtick_list list);
/*
 * One figure. -EINVAL: the row does not exist, the list lacks the key, or the key has another type.
 * -ENODATA: not measured in this window, not requested, or unavailable with this kernel or source.
 * subtick_double() also converts integers.
 */
int subtick_u64(const struct subtick_window *window, enum subtick_list list, size_t row,
		enum subtick_key key, uint64_t *ret_value);
int subtick_double(const struct subtick_window *window, enum subtick_list list, size_t row,
		   enum subtick_key key, double *ret_value);
/* Text of a key, owned by the window; NULL if the row lacks it. */
const char *subtick_text(const struct subtick_window *window, enum subtick_list list, size_t row,
			 enum subtick_key key);
/*
 * SUBTICK_GROUPS: a percentile from 0 to 100 of the waits, in ns, within 3.125 % and never above
 * MAX_NS. -ENODATA without waits.
 */
int subtick_percentile(const struct subtick_window *window, enum subtick_list list, size_t row,
		       double percent, double *ret_ns);
/*
 * SUBTICK_GROUPS: boundary number @bucket and the exact number of waits that are at most this long.
 * -ERANGE after the last boundary.
 */
int subtick_bucket(const struct subtick_window *window, enum subtick_list list, size_t row,
		   size_t bucket, uint64_t *ret_le_ns, uint64_t *ret_count);

/* Names as in the JSON of subtick, such as "sum_ns"; NULL for an unknown number. */
const char *subtick_key_name(enum subtick_key key);
const char *subtick_list_name(enum subtick_list list);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
