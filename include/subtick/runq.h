/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run-queue latency: how long the tasks of each cgroup wait for a core, for agents that act on it. */
#ifndef SUBTICK_RUNQ_H
#define SUBTICK_RUNQ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One context belongs to one thread at a time: calls on the same context must not overlap.
 * Different contexts are independent. See subtick-runq(8) for what is measured.
 * With a NULL context or result pointer a function returns -EINVAL, -1.0 or NULL, by its type.
 */
struct runq_latency;

struct runq_latency_opts {
	/* sizeof(struct runq_latency_opts): lets the struct grow without breaking callers. */
	uint32_t size;
	uint32_t tree; /* a group for each cgroup below @cgroups, instead of their sum */
	/* Paths as in /proc/PID/cgroup, or below the mount point; none: every cgroup. */
	const char *const *cgroups;
	size_t nr_cgroups;
	/* Boundaries in ns, ascending, at least 3.2 % apart, at most 32; none: a default set. */
	const uint64_t *le_ns;
	size_t nr_le;
	/* Each wait is counted with this probability; 0 or 1: all. */
	double sample_ratio;
	const char *source;    /* NULL or "auto", "sched_info", "wakeup" */
	const char *hierarchy; /* NULL or "auto", "v1", "v2" */
	/*
	 * What a group is: NULL or "cgroup"; "pod", "namespace", "qos": all cgroups of a Kubernetes pod,
	 * of a namespace, or of a QoS class. Cgroups outside pods are groups of their own with "pod",
	 * else the group "(no pod)"; pods of an unknown namespace are the group "(unknown)".
	 */
	const char *per;
	/* With "cgroup": a group is all cgroups whose paths have so many names in common; 0: one cgroup. */
	uint32_t depth;
	/* Also measure what runq_latency_pressure() returns; with "cgroup" or "pod". */
	uint32_t pressure;
	/* Maximum culprits per victim for runq_latency_blame(); 0 disables blame. Implies causes. */
	uint32_t blame;
	/* Fill struct runq_latency_causes, at a higher cost per context switch; else all are 0. */
	uint32_t causes;
};

/* Parts of sum_ns, which is their sum; all 0 without the option causes. */
struct runq_latency_causes {
	uint64_t idle_exit_ns;
	uint64_t same_group_ns;
	uint64_t other_group_ns;
	uint64_t kernel_thread_ns;
	uint64_t preempted_ns;
	uint64_t throttled_ns;
	uint64_t migrated_ns;
	uint64_t unknown_ns;
};

/* One group in one window: a cgroup, or the sum over several of them; counts and sums are scaled if waits were sampled. */
struct runq_latency_group {
	const char *cgroup;	/* of a pod: the cgroup that has all of it below; else the group's name */
	uint64_t cgroup_id;	/* 0 if unknown, as of a pod */
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns;
	struct runq_latency_causes causes;
	const uint64_t *le_count; /* waits up to and including each boundary, exact */
	const void *histogram;	  /* for runq_latency_percentile() */
	uint32_t ended;		  /* the cgroup had ended at the end of the window */
	uint32_t reserved;
	/* What the path names, from kubelet and container runtimes; NULL if nothing. */
	const char *pod_uid;
	const char *container_id;
	const char *qos;
	/* From the files of kubelet and of the runtime; NULL if unknown. */
	const char *namespace_name;
	const char *pod;
	const char *container;
	const char *image;
};

struct runq_latency_window {
	uint64_t window_ns;
	const struct runq_latency_group *groups; /* largest sum first */
	size_t nr_groups;
	const uint64_t *le_ns;
	size_t nr_le;
	/* Since the context was opened. */
	uint64_t unknown_start_total;
	uint64_t table_full_total;
	uint64_t negative_total;
	uint64_t recursion_misses_total;
	/*
	 * Of this window: accounted part of the observed waits ÷ kernel run_delay of all tasks; near 1
	 * if no wait was missed. Negative if unknown.
	 */
	double schedstat_ratio;
};

/* A group, or "(idle)", "(kernel threads)" and others as in subtick-runq(8), which have only that. */
struct runq_latency_party {
	const char *cgroup;
	uint64_t cgroup_id;
	/* As in struct runq_latency_group. */
	const char *pod_uid;
	const char *container_id;
	const char *qos;
	const char *namespace_name;
	const char *pod;
	const char *container;
	const char *image;
};

/* Parts of a wall time, which is their sum. */
struct runq_latency_pressure_causes {
	uint64_t contention_ns; /* behind other tasks */
	uint64_t kernel_thread_ns;
	uint64_t idle_exit_ns;
	uint64_t quota_ns; /* throttled by its CPU quota */
};

/* The wall time in which tasks of a cgroup, or of one below it, waited for a core. */
struct runq_latency_pressure {
	struct runq_latency_party group; /* the cgroup "/" is the machine */
	uint64_t waiting_ns;		 /* at least one task waited */
	uint64_t stalled_ns;		 /* and none of them ran */
	struct runq_latency_pressure_causes waiting;
	struct runq_latency_pressure_causes stalled;
	/* The kernel's own (PSI), of which quota is a part; UINT64_MAX if unknown. */
	uint64_t psi_waiting_ns;
	uint64_t psi_stalled_ns;
};

struct runq_latency_pressures {
	const struct runq_latency_pressure *rows; /* most waiting first */
	size_t nr_rows;
	/* Since the context was opened; see PRESSURE in subtick-runq(8). */
	uint64_t full_total;
	uint64_t shared_total;
	uint64_t crowded_total;
	uint64_t unstable_total;
};

/* The time that tasks of the victim waited while the culprit had the core. */
struct runq_latency_blame {
	struct runq_latency_party victim;
	struct runq_latency_party culprit;
	uint64_t wait_ns;
	uint64_t count;
};

struct runq_latency_blames {
	const struct runq_latency_blame *rows; /* by victim, most waiting first */
	size_t nr_rows;
	/* Since the context was opened: charges that found no room, in a row of "(other)". */
	uint64_t full_total;
};

/* Opens a context and begins the first window. 0 or -errno. */
int runq_latency_open(struct runq_latency **ret, const struct runq_latency_opts *opts);
/*
 * Ends the window and begins the next without a gap. *@ret_window is valid until the next call. 0
 * or -errno.
 */
int runq_latency_read(struct runq_latency *ctx, struct runq_latency_window *ret_window);
/*
 * Pressure in the window that was read last, valid until the next read. 0 or -errno: -EINVAL if the
 * context was opened without it.
 */
int runq_latency_pressure(struct runq_latency *ctx, struct runq_latency_pressures *ret_pressures);
/*
 * Who had the core while others waited, likewise. The rows of a victim sum to its sum_ns.
 */
int runq_latency_blame(struct runq_latency *ctx, struct runq_latency_blames *ret_blames);
/* The group with that path in the window; NULL if it had no waits. */
const struct runq_latency_group *runq_latency_find(const struct runq_latency_window *window,
						   const char *cgroup);
/* ns, within 3.125 % and never above max_ns. Negative without waits. */
double runq_latency_percentile(const struct runq_latency_group *group, double percent);
/* ns; negative without waits. */
double runq_latency_average(const struct runq_latency_group *group);

/*
 * For machines on which hundreds of cgroups are created between two reads: poll this descriptor and
 * call runq_latency_service() when it is readable. It makes room for them; without it, the waits of
 * groups beyond the room are added up in the group "(other)".
 */
int runq_latency_fd(const struct runq_latency *ctx);
int runq_latency_service(struct runq_latency *ctx);

/* The name of the source in use. */
const char *runq_latency_source(const struct runq_latency *ctx);
/* One sentence that says why the last call on this thread failed. */
const char *runq_latency_strerror(void);
void runq_latency_close(struct runq_latency *ctx);

#ifdef __cplusplus
}
#endif

#endif
