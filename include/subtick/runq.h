/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run-queue latency: how long the tasks of each cgroup wait for a core, for agents that act on it. */
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
	SUBTICK_PER_POD,       /* cgroups outside pods are groups of their own */
	SUBTICK_PER_NAMESPACE, /* "(no pod)" and "(unknown)" beside the namespaces */
	SUBTICK_PER_QOS,
	SUBTICK_PER_VM,	  /* vCPU threads of a VM; cgroups outside VMs are groups of their own */
	SUBTICK_PER_VCPU, /* one vCPU of a VM */
};

/* Bits of subtick_runq_opts.flags; each costs more, see subtick_runq_open(3). Unknown bits: -EINVAL. */
enum subtick_runq_flag {
	SUBTICK_RUNQ_TREE = 1 << 0,	   /* a group for each cgroup below `cgroups`, not their sum */
	SUBTICK_RUNQ_CAUSES = 1 << 1,	   /* split waits by cause */
	SUBTICK_RUNQ_PRESSURE = 1 << 2,	   /* SUBTICK_PRESSURE; per cgroup or pod */
	SUBTICK_RUNQ_IDLE_STATES = 1 << 3, /* SUBTICK_IDLE_STATES */
	SUBTICK_RUNQ_AVOIDABLE = 1 << 4,   /* SUBTICK_AVOIDABLE_NS to SUBTICK_EXCLUDED_NS */
};

/* Members that are 0 have their default. Strings and arrays are copied by open. */
struct subtick_runq_opts {
	uint32_t size;	    /* sizeof(struct subtick_runq_opts) */
	uint32_t flags;	    /* enum subtick_runq_flag */
	uint32_t source;    /* enum subtick_runq_source */
	uint32_t hierarchy; /* 0: the one that controls the CPU; 1, 2: cgroup v1, v2 */
	uint32_t per;	    /* enum subtick_runq_per */
	uint32_t depth;	    /* a group is all cgroups whose paths have this many names in common */
	uint32_t blame;	    /* culprits per victim in SUBTICK_BLAME; implies causes */
	uint32_t reserved;  /* 0 */
	/* Paths as in /proc/PID/cgroup, or below the mount point; none: every cgroup. */
	const char *const *cgroups;
	size_t nr_cgroups;
	/*
	 * "+" includes, "-" excludes: "-namespace=kube-system", "+pod=web-*", "+cgroup=/PATH",
	 * "+container=NAME", "+qos=CLASS". The first that matches decides; if none does, the cgroup
	 * passes unless a rule includes. At most 64.
	 */
	const char *const *rules;
	size_t nr_rules;
	const uint64_t *le_ns; /* boundaries, ascending, 3.2 % apart, at most 32; none: a default set */
	size_t nr_le;
	const char *cpus;      /* CPUs whose waits count, "0,2-5"; NULL: all */
	double sample_ratio;   /* each wait is counted with this probability; 0 or 1: all */
	uint64_t threshold_ns; /* stream waits of at least this length to SUBTICK_LONG_WAITS; 0: none */
};

/* @opts may be NULL. */
int subtick_runq_open(struct subtick **ret, const struct subtick_runq_opts *opts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
