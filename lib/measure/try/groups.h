/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Figures of cgroups per round: watched cgroups, and other cgroups that wait or run. */
#ifndef SUBTICK_MEASURE_TRY_GROUPS_H
#define SUBTICK_MEASURE_TRY_GROUPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/window.h"
#include "stats/compare.h"

enum try_arm {
	TRY_ORIGINAL,
	TRY_CHANGED,
	TRY_NR_ARMS,
};

enum try_figure {
	TRY_WAIT, /* mean wait for a core */
	TRY_P99,
	TRY_CPU, /* CPU time per second of wall time, ns */
	TRY_NR_FIGURES,
};

#define TRY_MAX_WATCHED 16
#define TRY_MAX_GROUPS	1024
/*
 * For cgroups that are not watched: minimum number of waits and of ns of CPU time per second. A
 * round with less gives no figure.
 */
#define TRY_OTHER_WAITS 20
#define TRY_OTHER_CPU	1e6
/* For cgroups that are not watched: minimum change that is reported. */
#define TRY_OTHER_RATIO 0.01

struct try_group {
	char *path;
	bool watched; /* figures include all descendants; false for a single cgroup */
	/* Figures of each pair of rounds; NAN if unknown. */
	double value[TRY_NR_FIGURES][PAIRED_MAX][TRY_NR_ARMS];
	uint64_t count[PAIRED_MAX][TRY_NR_ARMS];	       /* waits */
	/* For watched cgroups only: wait time by cause, summed over all rounds. */
	uint64_t cause_ns[TRY_NR_ARMS][RUNQ_NR_CAUSES];
	struct paired effect[TRY_NR_FIGURES];
	/* Differences between rounds with the original setting. */
	struct paired control[TRY_NR_FIGURES];
	/* CPU time of the cgroup at the start of the round. */
	uint64_t usage_ns;
	/* Waits in the current round, for watched cgroups only. */
	struct runq_group_window round;
};

/*
 * Time that tasks of a watched cgroup waited while @culprit was running on the core, sum over all
 * rounds.
 */
struct try_blame {
	const char *victim; /* path of a watched group, owned by that group */
	char *culprit;
	uint64_t wait_ns[TRY_NR_ARMS];
};

struct try_groups {
	/* Mount point of the cgroup hierarchy that contains the groups. */
	char mount[PATH_MAX];
	/* Mount point of the hierarchy with CPU times, or "" if CPU times are unavailable. */
	char usage_mount[PATH_MAX];
	bool usage_v2;		    /* read cpu.stat of v2; false for cpuacct.usage of v1 */
	struct try_group *groups;   /* watched cgroups first */
	size_t nr, nr_watched;
	bool full; /* more than TRY_MAX_GROUPS cgroups were seen */
	struct try_blame *blame;
	size_t nr_blame;
	uint64_t time_ns[TRY_NR_ARMS]; /* total length of all rounds */
};

/* Finds the cgroups @watch in hierarchy @hierarchy. */
int try_groups_open(struct try_groups *groups, enum runq_hierarchy hierarchy,
		    const char *const *watch, size_t nr, struct err *err);
void try_groups_close(struct try_groups *groups);
/* Starts a round. -ENOENT if a watched cgroup was removed. */
int try_groups_begin(struct try_groups *groups, struct err *err);
/* Ends a round: adds the figures of @window. */
int try_groups_end(struct try_groups *groups, const struct runq_window *window, unsigned int pair,
		   enum try_arm arm, struct err *err);
/*
 * Computes effect and control of each group from @nr_pairs pairs. Confidence intervals of watched
 * groups have a level of 95 %. Confidence intervals of other groups are simultaneous (Bonferroni):
 * in 95 % of experiments all these intervals contain their true values.
 */
void try_groups_compare(struct try_groups *groups, unsigned int nr_pairs);

#endif
