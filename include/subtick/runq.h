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
	SUBTICK_PER_NAMESPACE, /* also has the groups "(no pod)" and "(unknown)" */
	SUBTICK_PER_QOS,
	SUBTICK_PER_VM,	  /* vCPU threads of a VM; each cgroup outside VMs is a separate group */
	SUBTICK_PER_VCPU, /* one vCPU of a VM */
};

/* Bits of subtick_runq_opts.flags. subtick_runq_open(3) has their cost. Unknown bits: -EINVAL. */
enum subtick_runq_flag {
	SUBTICK_RUNQ_TREE = 1 << 0,	   /* one group per cgroup below `cgroups` */
	SUBTICK_RUNQ_CAUSES = 1 << 1,	   /* split waits by cause */
	SUBTICK_RUNQ_PRESSURE = 1 << 2,	   /* fill SUBTICK_PRESSURE; per cgroup or pod only */
	SUBTICK_RUNQ_IDLE_STATES = 1 << 3, /* fill SUBTICK_IDLE_STATES */
	SUBTICK_RUNQ_AVOIDABLE = 1 << 4,   /* measure SUBTICK_AVOIDABLE_NS to SUBTICK_EXCLUDED_NS */
};

/* A member that is 0 has its default. Open copies strings and arrays. */
struct subtick_runq_opts {
	uint32_t size;	    /* sizeof(struct subtick_runq_opts) */
	uint32_t flags;	    /* enum subtick_runq_flag */
	uint32_t source;    /* enum subtick_runq_source */
	uint32_t hierarchy; /* 1, 2: cgroup v1, v2; 0: the hierarchy of controller cpu */
	uint32_t per;	    /* enum subtick_runq_per */
	uint32_t depth;	    /* one group for all cgroups with this many leading names in common */
	uint32_t blame;	    /* culprits per victim in SUBTICK_BLAME; implies causes */
	uint32_t reserved;  /* 0 */
	/* Paths as in /proc/PID/cgroup, or with the mount point; empty: all cgroups. */
	const char *const *cgroups;
	size_t nr_cgroups;
	/*
	 * "+" includes, "-" excludes: "-namespace=kube-system", "+pod=web-*", "+cgroup=/PATH",
	 * "+container=NAME", "+qos=CLASS". The first matching rule decides. A cgroup that no rule
	 * matches is measured unless there is a rule with "+". At most 64.
	 */
	const char *const *rules;
	size_t nr_rules;
	const uint64_t *le_ns; /* boundaries, ascending, 3.2 % apart, at most 32; NULL: default */
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
