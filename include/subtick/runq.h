/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run-queue latency of each cgroup: the time that runnable tasks wait for a core. */
#ifndef SUBTICK_RUNQ_H
#define SUBTICK_RUNQ_H

#include <subtick/subtick.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum subtick_runq_source {
	SUBTICK_RUNQ_AUTO,
	SUBTICK_RUNQ_SCHED_INFO, /* "sched_info" */
	SUBTICK_RUNQ_WAKEUP,	 /* "wakeup" */
};

/* Rows of SUBTICK_GROUPS. */
enum subtick_runq_per {
	SUBTICK_PER_CGROUP,
	SUBTICK_PER_TASK,
	SUBTICK_PER_COMM,
	SUBTICK_PER_CPU,
	SUBTICK_PER_POD,       /* each cgroup outside pods is a separate group */
	SUBTICK_PER_NAMESPACE, /* the list also has the groups "(no pod)" and "(unknown)" */
	SUBTICK_PER_QOS,
	SUBTICK_PER_VM,	  /* vCPU threads of a VM; each cgroup outside VMs is a separate group */
	SUBTICK_PER_VCPU, /* one vCPU of a VM */
};

/*
 * Bits of subtick_runq_opts.flags. subtick_runq_open(3) says how much CPU time and memory each flag
 * costs. Unknown bits: -EINVAL.
 */
enum subtick_runq_flag {
	SUBTICK_RUNQ_TREE = 1 << 0,	   /* one group per cgroup below `cgroups` */
	SUBTICK_RUNQ_CAUSES = 1 << 1,	   /* split waits by cause */
	/* fill the list SUBTICK_PRESSURE; only if groups are cgroups or pods */
	SUBTICK_RUNQ_PRESSURE = 1 << 2,
	SUBTICK_RUNQ_IDLE_STATES = 1 << 3, /* fill SUBTICK_IDLE_STATES */
	/* measure the keys SUBTICK_AVOIDABLE_NS to SUBTICK_EXCLUDED_NS */
	SUBTICK_RUNQ_AVOIDABLE = 1 << 4,
};

/*
 * A member that is 0 selects the default of that member. subtick_runq_open() copies strings and
 * arrays.
 */
struct subtick_runq_opts {
	uint32_t size;	    /* sizeof(struct subtick_runq_opts) */
	uint32_t flags;	    /* enum subtick_runq_flag */
	uint32_t source;    /* enum subtick_runq_source */
	uint32_t hierarchy; /* 1, 2: cgroup v1, v2; 0: the hierarchy of controller cpu */
	uint32_t per;	    /* enum subtick_runq_per */
	uint32_t depth;	    /* one group for all cgroups with this many leading names in common */
	uint32_t blame;	    /* number of culprits per victim in SUBTICK_BLAME; implies causes */
	uint32_t reserved;  /* 0 */
	/*
	 * Paths of the cgroups to measure, as in /proc/PID/cgroup or with the mount point; empty:
	 * all cgroups.
	 */
	const char *const *cgroups;
	size_t nr_cgroups;
	/*
	 * Rules that include ("+") or exclude ("-") cgroups: "-namespace=kube-system",
	 * "+pod=web-*", "+cgroup=/PATH", "+container=NAME", "+qos=CLASS". The first rule that
	 * matches a cgroup decides whether the cgroup is measured. A cgroup that no rule matches is
	 * measured unless there is a rule with "+". At most 64.
	 */
	const char *const *rules;
	size_t nr_rules;
	/* histogram boundaries: ascending, at least 3.2 % apart, at most 32; NULL: default */
	const uint64_t *le_ns;
	size_t nr_le;
	const char *cpus;      /* CPUs whose waits count, "0,2-5"; NULL: all */
	double sample_ratio;   /* probability that a wait is counted; 0 and 1 count all waits */
	uint64_t threshold_ns; /* minimum length of a wait in SUBTICK_LONG_WAITS; 0: no stream */
};

/* @opts may be NULL. */
int subtick_runq_open(struct subtick **ret, const struct subtick_runq_opts *opts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
