/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `subtick runq` can be asked for. */
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

/* What rows are sums over; the programs count each cgroup for itself. */
enum runq_sum {
	RUNQ_SUM_NONE,
	RUNQ_SUM_ASKED, /* over everything below each of the cgroups asked for */
	RUNQ_SUM_DEPTH, /* over cgroups whose paths begin with the same names */
	RUNQ_SUM_POD,
	RUNQ_SUM_NAMESPACE,
	RUNQ_SUM_QOS,
};

/* The row of cgroups that belong to no pod, where rows are properties of pods. */
#define RUNQ_NO_POD "(no pod)"
/* The row of pods whose namespace is unknown. */
#define RUNQ_NO_NAMESPACE "(unknown)"

struct runq_opts {
	enum runq_source source;
	enum runq_hierarchy hierarchy;
	enum runq_per per;
	enum runq_sum sum;   /* of per cgroup; cgroups without tree make it ASKED, depth DEPTH */
	unsigned int depth;  /* names of a path that make a row; 0: all */
	struct cpuset cpus;	    /* CPUs whose waits count; empty: all */
	const char *const *cgroups; /* paths to report; all without */
	size_t nr_cgroups;
	const struct runq_rules *rules; /* which of these count; NULL: all; must outlive the meter */
	bool tree; /* a row for each cgroup below them, instead of their sum */
	uint64_t le_ns[RUNQ_NR_LE];
	unsigned int nr_le; /* 0: the default set */
	double percentiles[RUNQ_MAX_PERCENTILES];
	unsigned int nr_percentiles; /* 0: 50, 90, 99, 99.9 */
	double sample_ratio;	     /* 0: every wait */
	/*
	 * Room for so many groups, all of it at the start, for a caller that then drops the privilege to
	 * make maps; 0: room grows with the groups.
	 */
	size_t reserve;
	size_t reserve_most; /* of these with those that exist already; 0: no limit */
	/* From where files of container runtimes come (sys/runtime_channel.h); 0: they are opened here. */
	int names_channel;
	bool steps_only; /* count at boundaries only: no fine histogram, which is most of the memory */
	bool causes; /* split waits by cause; blame implies it */
	bool blame;
	bool idle_states;	 /* waits for idle cores by idle state: two more programs */
	bool pressure;		 /* wall time in which cgroups wait: four more programs */
	bool psi_node_only;	 /* beside it the kernel's own figure of the machine, not of cgroups */
	unsigned int blame_rows; /* culprits per victim; 0: 8 */
	uint64_t threshold_ns;	 /* 0: no stream of long waits */
	/* The limit that groups are judged by: this percentile may not exceed fail_ns. */
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
/* Fills in what was left at 0. */
void runq_opts_defaults(struct runq_opts *opts);
/*
 * How many groups to make room for if @now exist: as many as were asked for, or a quarter more than
 * exist, because none can be added later; but no more than memory allows.
 */
size_t runq_opts_reserve(const struct runq_opts *opts, size_t now);
/*
 * Whether the programs leave out cgroups that were not asked for; else only reports do. Causes need
 * every switch, and a sample decides by itself what to leave out.
 */
bool runq_opts_filter(const struct runq_opts *opts);
/* What rows are, as users name it: "task", "pod". NULL ends the list. */
extern const char *const runq_per_names[];
/* Sets per and sum to what the name at @index of runq_per_names means. */
void runq_opts_per(struct runq_opts *opts, unsigned int index);
/* By the enums' values; NULL ends them. */
extern const char *const runq_source_names[];
extern const char *const runq_hierarchy_names[];

#endif
