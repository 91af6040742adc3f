/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run-queue latency of each cgroup: the time that runnable tasks wait for a core. */
#ifndef SUBTICK_RUNQ_H
#define SUBTICK_RUNQ_H

#include <subtick/subtick.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Source of the start time of a wait. */
enum subtick_runq_source {
	SUBTICK_RUNQ_AUTO,	 /* "sched_info" if available, otherwise "wakeup" */
	SUBTICK_RUNQ_SCHED_INFO, /* "sched_info": enqueue time that the kernel stores */
	SUBTICK_RUNQ_WAKEUP,	 /* "wakeup": wake-up or preemption time that subtick stores */
};

/* Meaning of a row of SUBTICK_GROUPS. */
enum subtick_runq_per {
	SUBTICK_PER_CGROUP,
	SUBTICK_PER_TASK,
	SUBTICK_PER_COMM, /* all tasks with the same name */
	SUBTICK_PER_CPU,
	SUBTICK_PER_POD, /* all tasks of a pod; each cgroup outside pods is a separate group */
	/*
	 * all pods of a namespace; the groups "(no pod)" and "(unknown)" contain all other cgroups
	 */
	SUBTICK_PER_NAMESPACE,
	SUBTICK_PER_QOS,  /* all pods of a QoS class */
	SUBTICK_PER_VM,	  /* vCPU threads of a VM; each cgroup outside VMs is a separate group */
	SUBTICK_PER_VCPU, /* one vCPU of a VM */
};

/*
 * Bits of subtick_runq_opts.flags. subtick_runq_open(3) lists the instructions per switch and the
 * memory that each flag costs. Unknown bits cause -EINVAL.
 */
enum subtick_runq_flag {
	SUBTICK_RUNQ_TREE = 1 << 0,   /* each cgroup below `cgroups` is a separate group */
	SUBTICK_RUNQ_CAUSES = 1 << 1, /* split waits by cause */
	/* fill the list SUBTICK_PRESSURE; needs SUBTICK_PER_CGROUP or SUBTICK_PER_POD */
	SUBTICK_RUNQ_PRESSURE = 1 << 2,
	SUBTICK_RUNQ_IDLE_STATES = 1 << 3, /* fill the list SUBTICK_IDLE_STATES */
	/* measure the keys SUBTICK_AVOIDABLE_NS to SUBTICK_EXCLUDED_NS */
	SUBTICK_RUNQ_AVOIDABLE = 1 << 4,
};

/*
 * A member that is 0 or NULL selects its default. subtick_runq_open() copies the strings and
 * arrays.
 */
struct subtick_runq_opts {
	uint32_t size;	    /* sizeof(struct subtick_runq_opts) */
	uint32_t flags;	    /* enum subtick_runq_flag */
	uint32_t source;    /* enum subtick_runq_source */
	/* cgroup hierarchy: 1 for v1, 2 for v2, 0 for the hierarchy with the controller cpu */
	uint32_t hierarchy;
	uint32_t per;	    /* enum subtick_runq_per */
	/*
	 * N: merge all cgroups whose paths begin with the same N names into one group; 0: merge no
	 * cgroups
	 */
	uint32_t depth;
	/* maximum number of culprits per victim in SUBTICK_BLAME; N > 0 sets SUBTICK_RUNQ_CAUSES */
	uint32_t blame;
	uint32_t reserved; /* must be 0 */
	/*
	 * Paths of the cgroups to measure, as in /proc/PID/cgroup or with the mount point.
	 * nr_cgroups 0: all cgroups.
	 */
	const char *const *cgroups;
	size_t nr_cgroups;
	/*
	 * Rules that include ("+") or exclude ("-") cgroups: "-namespace=kube-system",
	 * "+pod=web-*", "+cgroup=/PATH", "+container=NAME", "+qos=CLASS". The first rule that
	 * matches a cgroup decides whether the cgroup is measured. A cgroup that no rule matches is
	 * measured unless there is a rule with "+". At most 64 rules.
	 */
	const char *const *rules;
	size_t nr_rules;
	/* histogram boundaries: ascending, at least 3.2 % apart, at most 32 (NULL: default) */
	const uint64_t *le_ns;
	size_t nr_le;
	const char *cpus;      /* CPUs whose waits are counted, "0,2-5" (NULL: all) */
	double sample_ratio;   /* probability that a wait is counted; 0 and 1 count all waits */
	uint64_t threshold_ns; /* minimum length of a wait in SUBTICK_LONG_WAITS (0: no stream) */
};

/*
 * Starts to measure waits and stores a new context in @ret, to be freed with subtick_close(). @opts
 * may be NULL. On failure subtick_error() returns the cause.
 */
int subtick_runq_open(struct subtick **ret, const struct subtick_runq_opts *opts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
