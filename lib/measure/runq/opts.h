/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of the run-queue measurement. */
#ifndef SUBTICK_MEASURE_RUNQ_OPTS_H
#define SUBTICK_MEASURE_RUNQ_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runq.h"
#include "base/cpuset.h"
#include "base/option.h"
#include "measure/runq/rules.h"

#define RUNQ_MAX_PERCENTILES 16

enum runq_source {
	RUNQ_SOURCE_AUTO,
	RUNQ_SOURCE_SCHED_INFO,
	RUNQ_SOURCE_WAKEUP,
};

enum runq_hierarchy {
	RUNQ_HIERARCHY_AUTO,
	RUNQ_HIERARCHY_V1,
	RUNQ_HIERARCHY_V2,
};

/* Rows that are sums over groups. BPF programs count each group alone. */
enum runq_rollup_by {
	ROLLUP_NONE,
	ROLLUP_REQUESTED, /* each of opts->cgroups with everything below it */
	ROLLUP_DEPTH, /* cgroups whose paths begin with the same names */
	ROLLUP_POD,
	ROLLUP_NAMESPACE,
	ROLLUP_QOS,
	/* With RUNQ_PER_TASK: tasks of a virtual machine. */
	ROLLUP_VM,
	ROLLUP_VCPU,
	ROLLUP_COMM, /* with RUNQ_PER_CGROUP_COMM: tasks of the same name */
};

/* Row of cgroups outside pods, where rows are namespaces or QoS classes. */
#define RUNQ_NO_POD "(no pod)"
/* Row of pods with an unknown namespace. */
#define RUNQ_NO_NAMESPACE "(unknown)"

struct meter;

struct runq_opts {
	enum runq_source source;
	enum runq_hierarchy hierarchy;
	enum runq_per per;
	/* With per cgroup, or task; NONE becomes ASKED or DEPTH by the members below. */
	enum runq_rollup_by sum;
	unsigned int depth;  /* names of a path that make a row; 0: all */
	struct cpuset cpus;	    /* CPUs whose waits count; empty: all */
	const char *const *cgroups; /* paths to report; all without */
	size_t nr_cgroups;
	const struct runq_rules *rules; /* filter, must outlive the meter; NULL: none */
	/*
	 * Culprits that @rules exclude are one party, RUNQ_PARTY_EXCLUDED: then the programs can
	 * skip excluded cgroups also with causes. Pressure is always measured for all cgroups.
	 */
	bool fold_excluded;
	bool tree; /* a row for each cgroup below @cgroups, instead of their sum */
	uint64_t le_ns[RUNQ_NR_LE];
	unsigned int nr_le; /* 0: the default set */
	double percentiles[RUNQ_MAX_PERCENTILES];
	unsigned int nr_percentiles; /* 0: 50, 90, 99, 99.9 */
	double sample_ratio;	     /* 0: every wait */
	/*
	 * Groups to allocate maps for at the start, because the caller then drops the privilege
	 * to create maps. 0: allocate as groups appear.
	 */
	size_t reserve;
	size_t reserve_most; /* upper bound of reserve plus existing cgroups; 0: none */
	/* Descriptor that passes files of container runtimes (pods/runtime_files.h). 0: open them. */
	int names_channel;
	/* Count at boundaries only: no fine histogram, which is most of the memory. */
	bool steps_only;
	bool causes; /* split waits by cause; blame implies it */
	bool blame;
	bool idle_states;	 /* waits for idle cores by idle state; loads two more programs */
	/* Waits while an allowed core was idle; loads five more programs. */
	bool avoidable;
	bool pressure;		 /* wall time in which cgroups wait; loads four more programs */
	/* Meter of load that shares one program on sched_switch with runq, or NULL. */
	struct meter *load;
	bool psi_node_only;	 /* read the kernel's PSI of the machine only, not of cgroups */
	unsigned int blame_rows; /* culprits per victim; 0: 8 */
	uint64_t threshold_ns;	 /* 0: no stream of long waits */
	/* Verdict: a group fails if this percentile of its waits exceeds fail_ns. */
	double fail_percent; /* 0: no verdict */
	uint64_t fail_ns;
};

/*
 * 0, or -EINVAL if two options exclude each other or a value is out of range. The sentence names
 * options as the command line does; opt_plain() removes the dashes.
 */
int runq_opts_check(const struct runq_opts *opts, struct err *err);
/*
 * Parses the boundaries of @opt, "100us,1ms", each from opt->min to opt->max, into RUNQ_NR_LE
 * places of @le_ns. Unused places are 0.
 */
int runq_opts_le(const struct opt *opt, const char *value, uint64_t *le_ns, unsigned int *nr_le,
		 struct err *err);
/* Range of --sample. With a lower ratio, a second of the busiest machine would have no sample. */
#define RUNQ_SAMPLE(type, member)                                   \
	OPT_SHARE(type, member, 1e-6, 1.0),                         \
	.expected = "a ratio from 0.000001 to 1, such as 0.1"
/* Replaces members that are 0 by their defaults. */
void runq_opts_defaults(struct runq_opts *opts);
/*
 * Number of groups to allocate if @now exist: max(reserve, 1.25 × @now), because none can be added
 * later. reserve_most bounds the second term.
 */
size_t runq_opts_reserve(const struct runq_opts *opts, size_t now);
/*
 * True if the BPF programs can skip cgroups that the rules exclude; else only reports skip them.
 * Causes need the names of excluded culprits unless they are folded; sampling has its own filter.
 */
bool runq_opts_filter(const struct runq_opts *opts);
/* Names of --per: "task", "pod". NULL-terminated. */
extern const char *const runq_per_names[];
/* Sets per and sum for the name at @index of runq_per_names. */
void runq_opts_per(struct runq_opts *opts, unsigned int index);
/* By enum value, NULL-terminated. */
extern const char *const runq_source_names[];
extern const char *const runq_hierarchy_names[];

#endif
