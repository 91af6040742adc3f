/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits and CPU time per round of watched cgroups, and of other cgroups that wait or run much. */
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
	TRY_WAIT, /* mean time that a task waits for a core */
	TRY_P99,
	TRY_CPU, /* CPU time in ns per second of wall time */
	TRY_NR_FIGURES,
};

#define TRY_MAX_WATCHED 16
#define TRY_MAX_GROUPS	1024
/*
 * Limits for cgroups that are not watched. If a cgroup has fewer than TRY_OTHER_WAITS waits in a
 * round, its values TRY_WAIT and TRY_P99 of the round are unknown. If a cgroup uses less CPU time
 * than TRY_OTHER_CPU, in ns per second, its value TRY_CPU of the round is unknown.
 */
#define TRY_OTHER_WAITS 20
#define TRY_OTHER_CPU	1e6
/* A cgroup that is not watched is reported only if a value changes by more than this ratio. */
#define TRY_OTHER_RATIO 0.01

struct try_group {
	char *path;
	/* true for a watched cgroup; only the values of watched cgroups include descendants */
	bool watched;
	/* measured values by kind of value, pair of rounds, and setting; NAN if unknown */
	double value[TRY_NR_FIGURES][PAIRED_MAX][TRY_NR_ARMS];
	uint64_t count[PAIRED_MAX][TRY_NR_ARMS];	       /* number of waits */
	/* watched cgroups only: wait time by cause, summed over all rounds */
	uint64_t cause_ns[TRY_NR_ARMS][RUNQ_NR_CAUSES];
	struct paired effect[TRY_NR_FIGURES];
	/* effect of chance: comparison of successive rounds that both have the original setting */
	struct paired control[TRY_NR_FIGURES];
	/* CPU time of the cgroup at the start of the round */
	uint64_t usage_ns;
	/* watched cgroups only: waits in the current round */
	struct runq_group_window round;
};

/*
 * Time that tasks of the watched cgroup `victim` waited while the culprit ran on the core, summed
 * over all rounds.
 */
struct try_blame {
	const char *victim; /* path of the watched cgroup, owned by its struct try_group */
	char *culprit;
	uint64_t wait_ns[TRY_NR_ARMS];
};

struct try_groups {
	/* Mount point of the cgroup hierarchy that contains the groups. */
	char mount[PATH_MAX];
	/* Mount point of the hierarchy with CPU times, or "" if CPU times are unavailable. */
	char usage_mount[PATH_MAX];
	bool usage_v2;		  /* CPU times are from cpu.stat of v2, not cpuacct.usage of v1 */
	struct try_group *groups; /* all cgroups; the watched cgroups are first */
	size_t nr, nr_watched;
	bool full; /* true if there were more than TRY_MAX_GROUPS cgroups */
	struct try_blame *blame;
	size_t nr_blame;
	uint64_t time_ns[TRY_NR_ARMS]; /* total length of all rounds */
};

/* Finds the cgroups @watch in the cgroup hierarchy @hierarchy. */
int try_groups_open(struct try_groups *groups, enum runq_hierarchy hierarchy,
		    const char *const *watch, size_t nr, struct err *err);
void try_groups_close(struct try_groups *groups);
/* Returns -ENOENT if a watched cgroup was removed. */
int try_groups_begin(struct try_groups *groups, struct err *err);
/* Ends a round: stores the waits of @window and the CPU times. */
int try_groups_end(struct try_groups *groups, const struct runq_window *window, unsigned int pair,
		   enum try_arm arm, struct err *err);
/*
 * Computes the members `effect` and `control` of each cgroup from @nr_pairs pairs of rounds. Each
 * confidence interval of a watched group has a level of 95 %. The confidence intervals of the
 * groups that are not watched have a joint level of 95 % (Bonferroni).
 */
void try_groups_compare(struct try_groups *groups, unsigned int nr_pairs);

#endif
