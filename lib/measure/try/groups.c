/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collects waits and CPU time of cgroups per round, and compares the rounds. */
#include "measure/try/groups.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/cgroup.h"
#include "host/file.h"

#define CONFIDENCE 0.95
#define NO_USAGE   UINT64_MAX
#define P99	   99.0

static struct try_group *add_group(struct try_groups *g, const char *path, bool watched)
{
	struct try_group group = {.path = strdup(path), .watched = watched, .usage_ns = NO_USAGE};

	for (size_t i = 0; i < sizeof(group.value) / sizeof(double); i++)
		(&group.value[0][0][0])[i] = NAN;
	if (group.path && !array_push(g->groups, g->nr, group))
		return &g->groups[g->nr - 1];
	free(group.path);
	return NULL;
}

int try_groups_open(struct try_groups *g, enum runq_hierarchy hierarchy, const char *const *watch,
		    size_t nr, struct err *err)
{
	struct cgroup_layout layout;
	char path[PATH_MAX];
	uint64_t id;
	int rc = cgroup_layout(NULL, &layout);

	*g = (struct try_groups){.usage_v2 = hierarchy == RUNQ_HIERARCHY_V2};
	if (rc)
		return err_set(err, rc, "cannot find where cgroups are mounted: %s", strerror(-rc));
	strcpy(g->mount, g->usage_v2 ? layout.v2 : layout.v1_cpu);
	if (g->usage_v2)
		strcpy(g->usage_mount, g->mount);
	else
		/* v1: the CPU time is unavailable if the controller cpuacct is not mounted */
		cgroup_v1_mount(NULL, "cpuacct", g->usage_mount);
	for (size_t i = 0; i < nr; i++) {
		rc = cgroup_find(g->mount, watch[i], path, &id, err);
		if (rc)
			return err_prefix(err, "nothing to watch");
		if (!add_group(g, path, true))
			return err_set(err, -ENOMEM, "out of memory");
	}
	g->nr_watched = nr;
	return 0;
}

void try_groups_close(struct try_groups *g)
{
	for (size_t i = 0; i < g->nr; i++) {
		free(g->groups[i].path);
		free(g->groups[i].round.hist.entries);
	}
	for (size_t i = 0; i < g->nr_blame; i++)
		free(g->blame[i].culprit);
	free(g->groups);
	free(g->blame);
	*g = (struct try_groups){0};
}

/* CPU time of a cgroup and its descendants since the cgroup was created, or NO_USAGE if unknown. */
static uint64_t read_usage(const struct try_groups *g, const char *path)
{
	char file[2 * PATH_MAX], text[4096], *usage;
	uint64_t ns;

	if (!g->usage_mount[0])
		return NO_USAGE;
	snprintf(file, sizeof(file), "%s%s/%s", g->usage_mount, path[1] ? path : "",
		 g->usage_v2 ? "cpu.stat" : "cpuacct.usage");
	if (!g->usage_v2)
		return sys_read_u64(NULL, file, &ns) ? NO_USAGE : ns;
	if (sys_read_file(NULL, file, text, sizeof(text)) < 0)
		return NO_USAGE;
	usage = strstr(text, "usage_usec ");
	return usage ? strtoull(usage + strlen("usage_usec "), NULL, 10) * NSEC_PER_USEC : NO_USAGE;
}

int try_groups_begin(struct try_groups *g, struct err *err)
{
	char path[PATH_MAX];

	array_for_each(group, g->groups, g->nr) {
		if (group->watched && (sys_path(g->mount, group->path, path, sizeof(path)) ||
				       !sys_exists(NULL, path)))
			return err_set(err, -ENOENT, "the watched cgroup %s was removed",
				       group->path);
		group->usage_ns = read_usage(g, group->path);
		free(group->round.hist.entries);
		group->round = (struct runq_group_window){0};
	}
	return 0;
}

static struct try_group *find_other(struct try_groups *g, const char *path)
{
	for (size_t i = g->nr_watched; i < g->nr; i++)
		if (!strcmp(g->groups[i].path, path))
			return &g->groups[i];
	if (g->nr < TRY_MAX_GROUPS)
		return add_group(g, path, false);
	g->full = true;
	return NULL;
}

/* Adds the waits of a row to the watched cgroups at or above the cgroup of the row. */
static int add_watched(struct try_groups *g, const struct runq_group_window *row, bool *ret_watched)
{
	*ret_watched = false;
	array_for_each(group, g->groups, g->nr_watched) {
		if (!runq_path_below(row->party.group->path, group->path))
			continue;
		*ret_watched = true;
		if (runq_waits_add(&group->round, row))
			return -ENOMEM;
	}
	return 0;
}

static int add_row(struct try_groups *g, const struct runq_group_window *row, unsigned int pair,
		   enum try_arm arm)
{
	struct try_group *other;
	bool watched;
	int rc;

	if (row->party.kind != RUNQ_PARTY_GROUP)
		return 0;
	rc = add_watched(g, row, &watched);
	if (rc || watched)
		return rc;
	other = find_other(g, row->party.group->path);
	if (!other)
		return g->full ? 0 : -ENOMEM;
	other->count[pair][arm] = row->count;
	if (row->count >= TRY_OTHER_WAITS) {
		other->value[TRY_WAIT][pair][arm] = row->avg_ns;
		other->value[TRY_P99][pair][arm] = row->percentile_ns[0];
	}
	return 0;
}

static void end_watched(struct try_group *group, unsigned int pair, enum try_arm arm)
{
	const struct runq_group_window *round = &group->round;

	group->count[pair][arm] = round->count;
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		group->cause_ns[arm][i] += round->cause_ns[i];
	if (!round->count)
		return;
	group->value[TRY_WAIT][pair][arm] = (double)round->sum_ns / (double)round->count;
	group->value[TRY_P99][pair][arm] = hist_value_at(
		&hist_fine, &round->hist, hist_max(&hist_fine, &round->hist, round->max_ns), P99);
}

static int add_blame(struct try_groups *g, const struct runq_blame *row, enum try_arm arm)
{
	const char *culprit = runq_party_path(&row->culprit);

	for (size_t i = 0; row->victim.kind == RUNQ_PARTY_GROUP && i < g->nr_watched; i++) {
		struct try_blame *blame = g->blame, *end = blame + g->nr_blame;

		if (!runq_path_below(row->victim.group->path, g->groups[i].path))
			continue;
		while (blame < end &&
		       (blame->victim != g->groups[i].path || strcmp(blame->culprit, culprit)))
			blame++;
		if (blame == end) {
			char *copy = strdup(culprit);

			if (!copy || array_push(g->blame, g->nr_blame,
					       (struct try_blame){g->groups[i].path, copy, {0}})) {
				free(copy);
				return -ENOMEM;
			}
			blame = &g->blame[g->nr_blame - 1];
		}
		blame->wait_ns[arm] += row->wait_ns;
	}
	return 0;
}

int try_groups_end(struct try_groups *g, const struct runq_window *w, unsigned int pair,
		   enum try_arm arm, struct err *err)
{
	double seconds = (double)w->window_ns / 1e9;
	int rc = 0;

	/*
	 * compute CPU times before new groups are added, because the CPU time of a new group at the
	 * start of the round is unknown
	 */
	array_for_each(group, g->groups, g->nr) {
		uint64_t now = read_usage(g, group->path);
		double cpu = (double)(now - group->usage_ns) / seconds;

		if (now != NO_USAGE && group->usage_ns != NO_USAGE && now >= group->usage_ns &&
		    (group->watched || cpu >= TRY_OTHER_CPU))
			group->value[TRY_CPU][pair][arm] = cpu;
	}
	for (size_t i = 0; i < w->nr_groups && !rc; i++)
		rc = add_row(g, &w->groups[i], pair, arm);
	for (size_t i = 0; i < g->nr_watched; i++)
		end_watched(&g->groups[i], pair, arm);
	for (size_t i = 0; i < w->nr_blame && !rc; i++)
		rc = add_blame(g, &w->blame[i], arm);
	g->time_ns[arm] += w->window_ns;
	return rc ? err_set(err, rc, "out of memory") : 0;
}

/*
 * Compares successive rounds that both have the original setting, to measure the effect of chance.
 * A slow drift between rounds cancels out.
 */
static void compare_control(const double (*value)[TRY_NR_ARMS], unsigned int nr_pairs,
			    struct paired *ret_control)
{
	double pairs[PAIRED_MAX / 2][2];
	unsigned int nr = nr_pairs / 2;

	for (unsigned int i = 0; i < nr; i++)
		for (int k = 0; k < 2; k++)
			/*
			 * swap the rounds of every second pair, so that a drift of the measured
			 * values cancels out
			 */
			pairs[i][k] = value[2 * i + (i % 2 ? !k : k)][TRY_ORIGINAL];
	paired_compare(pairs, nr, CONFIDENCE, false, ret_control);
}

static void compare(struct try_group *group, unsigned int nr_pairs, double confidence)
{
	for (int f = 0; f < TRY_NR_FIGURES; f++) {
		paired_compare(group->value[f], nr_pairs, confidence, group->watched,
			       &group->effect[f]);
		compare_control(group->value[f], nr_pairs, &group->control[f]);
	}
}

void try_groups_compare(struct try_groups *g, unsigned int nr_pairs)
{
	unsigned int tests = 0;

	for (size_t i = 0; i < g->nr; i++) {
		compare(&g->groups[i], nr_pairs, CONFIDENCE);
		for (int f = 0; f < TRY_NR_FIGURES; f++)
			tests += !g->groups[i].watched && g->groups[i].effect[f].nr >= PAIRED_MIN;
	}
	for (size_t i = g->nr_watched; i < g->nr && tests; i++)
		compare(&g->groups[i], nr_pairs, 1.0 - (1.0 - CONFIDENCE) / tests);
}
