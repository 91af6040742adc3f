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

/* Kinds of rollup rows. A rollup row is the sum of several groups. */
enum runq_rollup_by {
	ROLLUP_NONE,
	ROLLUP_REQUESTED, /* one row per cgroup of opts->cgroups, with its descendants */
	ROLLUP_DEPTH,	  /* one row per path prefix of opts->depth names */
	ROLLUP_POD,
	ROLLUP_NAMESPACE,
	ROLLUP_QOS,
	/* one row per virtual machine, with all its tasks; requires RUNQ_PER_TASK */
	ROLLUP_VM,
	ROLLUP_VCPU,
	ROLLUP_COMM, /* one row per task name; requires RUNQ_PER_CGROUP_COMM */
};

/* Name of the row for cgroups outside pods, if each row is a namespace or QoS class. */
#define RUNQ_NO_POD "(no pod)"
/* Name of the row for pods with an unknown namespace. */
#define RUNQ_NO_NAMESPACE "(unknown)"

struct meter;

struct runq_opts {
	enum runq_source source;
	enum runq_hierarchy hierarchy;
	enum runq_per per;
	/*
	 * kind of rollup; runq_opts_defaults() sets ROLLUP_REQUESTED for `cgroups`, and
	 * ROLLUP_DEPTH for `depth`
	 */
	enum runq_rollup_by sum;
	unsigned int depth;  /* number of names in the path prefix of a rollup row, or 0 */
	struct cpuset cpus;	    /* CPUs whose waits are counted; empty for all CPUs */
	const char *const *cgroups; /* paths of cgroups to report; NULL for all cgroups */
	size_t nr_cgroups;
	/* rules of --include and --exclude, or NULL; valid until the measurement is closed */
	const struct runq_rules *rules;
	/*
	 * Merge excluded culprits into RUNQ_PARTY_EXCLUDED, so that the BPF programs can skip
	 * excluded cgroups even with causes. The measurement of pressure ignores fold_excluded.
	 */
	bool fold_excluded;
	/* report a row for each descendant of a requested cgroup instead of their sum */
	bool tree;
	uint64_t le_ns[RUNQ_NR_LE];
	unsigned int nr_le; /* number of boundaries in le_ns, or 0 for the default boundaries */
	double percentiles[RUNQ_MAX_PERCENTILES];
	unsigned int nr_percentiles; /* number of percentiles, or 0 for 50, 90, 99 and 99.9 */
	double sample_ratio;	     /* share of waits to count, or 0 for all */
	/*
	 * Number of groups for which slots are allocated at the start. If `reserve` is 0, slots are
	 * allocated on demand, and subtick needs the privilege to create BPF maps during the
	 * measurement.
	 */
	size_t reserve;
	size_t reserve_most; /* upper bound of the number of allocated slots, or 0 */
	/* descriptor that passes runtime files (pods/runtime_files.h), or 0 to open them */
	int names_channel;
	/*
	 * count waits only in the buckets between the boundaries of le_ns, without fine histograms,
	 * which take most of the memory of runq
	 */
	bool steps_only;
	bool causes; /* split waits by cause; blame sets this option */
	bool blame;
	bool idle_states;	 /* count waits for idle CPUs by idle state */
	/* count wait time in which a CPU that the task may use was idle */
	bool avoidable;
	bool pressure;		 /* measure the wall time in which tasks of a cgroup wait */
	/* load measurement that shares one program on sched_switch with runq, or NULL */
	struct meter *load;
	/* report pairs of cgroups, which `load` must count (`load --cgroups`) */
	bool core_pairs;
	bool psi_node_only;	 /* read PSI of the machine, but not of cgroups */
	unsigned int blame_rows; /* maximum number of culprits per victim; 0 for 8 */
	/* minimum length of waits that are reported one by one, or 0 to report no single waits */
	uint64_t threshold_ns;
	/* a group exceeds the limit if percentile fail_percent of its waits exceeds fail_ns */
	double fail_percent; /* percentile from 0 to 100, or 0 for no limit */
	uint64_t fail_ns;
};

/*
 * Returns -EINVAL if two options exclude each other or a value is out of range. Option names in
 * @err have dashes, which opt_plain() removes for the library.
 */
int runq_opts_check(const struct runq_opts *opts, struct err *err);
/*
 * Parses boundaries such as "100us,1ms", each from opt->min to opt->max, into the RUNQ_NR_LE
 * elements of @le_ns. Unused elements are 0.
 */
int runq_opts_le(const struct opt *opt, const char *value, uint64_t *le_ns, unsigned int *nr_le,
		 struct err *err);
/*
 * Table entry of option --sample. With a ratio below 0.000001, even the busiest machine would have
 * less than one sampled wait per second.
 */
#define RUNQ_SAMPLE(type, member)                                   \
	OPT_SHARE(type, member, 1e-6, 1.0),                         \
	.expected = "a ratio from 0.000001 to 1, such as 0.1"
/* Replaces zero members by their defaults. */
void runq_opts_defaults(struct runq_opts *opts);
/*
 * Returns the number of slots to allocate at the start: max(reserve, min(1.25 × @now,
 * reserve_most)). @now is the number of existing groups.
 */
size_t runq_opts_reserve(const struct runq_opts *opts, size_t now);
/*
 * True if the BPF programs can skip cgroups that the filter excludes. If false, only the reports
 * omit excluded cgroups. With causes, true only with fold_excluded, because an excluded cgroup may
 * be a culprit.
 */
bool runq_opts_filter(const struct runq_opts *opts);
/* Names for --per, such as "task" and "pod", NULL-terminated. */
extern const char *const runq_per_names[];
/* Sets the members `per` and `sum` of @opts for runq_per_names[@index]. */
void runq_opts_per(struct runq_opts *opts, unsigned int index);
/* Names of enum values, indexed by value and NULL-terminated. */
extern const char *const runq_source_names[];
extern const char *const runq_hierarchy_names[];

#endif
