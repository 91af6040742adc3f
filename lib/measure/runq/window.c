/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what the kernel side counted to the figures of a window. */
#include "measure/runq/window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/runq/filter.h"
#include "measure/runq/kernel.h"
#include "measure/runq/sums.h"
#include "measure/runq/waits.h"

static uint64_t scaled(const struct runq_window *w, uint64_t figure)
{
	return w->sample_ratio < 1.0 ? (uint64_t)llround((double)figure / w->sample_ratio) : figure;
}

/* What is read from the histogram. */
static void fill_totals(const struct runq_window *w, const struct runq_waits *waits,
			uint64_t *le_count, double *percentile_ns, struct runq_group_window *group)
{
	struct runq_totals totals;
	uint64_t count;

	runq_unpack(waits->totals, &totals);
	count = group->count = runq_totals_count(&totals);
	group->max_ns = runq_totals_max_ns(&totals);
	memcpy(group->cause_ns, totals.cause_ns, sizeof(group->cause_ns));
	runq_le_counts(&totals, w->le_ns, w->nr_le, le_count);
	for (unsigned int i = 0; i < w->nr_percentiles; i++)
		percentile_ns[i] = count ? runq_totals_percentile(&totals, w->percentiles[i]) : NAN;
	if (count && w->limit_percent > 0.0)
		group->judged_ns = runq_totals_percentile(&totals, w->limit_percent);
	if (w->sample_ratio < 1.0)
		group->sum_stderr_ratio = runq_sum_stderr(&totals, w->sample_ratio);
}

/* The same from counts at boundaries. */
static void fill_steps(const struct runq_window *w, const struct runq_step_totals *steps,
		       uint64_t *le_count, double *percentile_ns, struct runq_group_window *group)
{
	uint64_t count = group->count = runq_steps_count(steps);

	group->max_ns = runq_steps_max_ns(steps, w->le_ns, w->nr_le);
	memcpy(group->cause_ns, steps->cause_ns, sizeof(group->cause_ns));
	runq_steps_le(steps, w->nr_le, le_count);
	for (unsigned int i = 0; i < w->nr_percentiles; i++)
		percentile_ns[i] = count ? runq_steps_percentile(steps, w->le_ns, w->nr_le, count,
								 group->max_ns, w->percentiles[i])
					 : NAN;
	if (count && w->limit_percent > 0.0)
		group->judged_ns = runq_steps_percentile(steps, w->le_ns, w->nr_le, count,
							 group->max_ns, w->limit_percent);
}

static uint64_t waits_count(const struct runq_waits *waits)
{
	struct runq_totals totals;

	if (waits->steps)
		return runq_steps_count(waits->steps);
	runq_unpack(waits->totals, &totals);
	return runq_totals_count(&totals);
}

/* @le_count and @percentile_ns are the group's, to be filled. */
static void group_fill(const struct runq_window *w, const struct runq_waits *waits,
		       uint64_t *le_count, double *percentile_ns, struct runq_group_window *group)
{
	uint64_t count;

	*group = (struct runq_group_window){
		.party = runq_party_of(waits->group->key, waits->group),
		.ended = waits->ended,
		.sum_ns = scaled(w, waits->sum_ns),
		.le_count = le_count,
		.percentile_ns = percentile_ns,
		.judged_ns = NAN,
		.count_stderr_ratio = NAN,
		.sum_stderr_ratio = NAN,
		.totals = waits->totals,
	};
	if (waits->steps)
		fill_steps(w, waits->steps, le_count, percentile_ns, group);
	else
		fill_totals(w, waits, le_count, percentile_ns, group);
	count = group->count;
	group->avg_ns = count ? (double)waits->sum_ns / (double)count : NAN;
	if (w->sample_ratio >= 1.0)
		return;
	group->count_stderr_ratio = runq_count_stderr(count, w->sample_ratio);
	group->count = scaled(w, count);
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		group->cause_ns[i] = scaled(w, group->cause_ns[i]);
	for (unsigned int i = 0; i < w->nr_le; i++)
		le_count[i] = scaled(w, le_count[i]);
}

static void group_judge(struct runq_window *w, struct runq_group_window *group)
{
	group->exceeded = group->judged_ns > (double)w->limit_ns;
	w->nr_exceeded += group->exceeded;
}

/* Whether the list has what the cgroup waited. */
static bool list_has(const struct runq_waits_list *list, const char *path)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->waits[i].group->path, path))
			return true;
	return false;
}

/* Whether rows are the cgroups that were asked for, or cgroups below them. */
static bool shows_asked(const struct runq_window *w)
{
	return w->per == RUNQ_PER_CGROUP &&
	       (w->sum == RUNQ_SUM_NONE || w->sum == RUNQ_SUM_ASKED);
}

static int groups_alloc(struct runq_window *w, size_t room, struct err *err)
{
	/* One block: groups, then the boundaries of all of them, then their percentiles. */
	struct runq_group_window *groups =
		calloc(room + 1, sizeof(*groups) + w->nr_le * sizeof(uint64_t) +
					 w->nr_percentiles * sizeof(double));

	if (!groups)
		return err_set(err, -ENOMEM, "out of memory");
	free(w->groups);
	w->groups = groups;
	w->nr_exceeded = 0;
	w->waits_seen = 0;
	return 0;
}

int runq_window_groups(struct runq_window *w, const struct runq_waits_list *list,
		       const struct runq_filter *filter, const struct runq_sums *sums,
		       struct err *err)
{
	const struct runq_waits_list *from = sums ? &sums->waits : list;
	size_t room = from->nr + filter->nr, nr = 0;
	double *percentile_ns;
	uint64_t *le_count;

	if (groups_alloc(w, room, err))
		return -ENOMEM;
	le_count = (uint64_t *)(w->groups + room);
	percentile_ns = (double *)(le_count + room * w->nr_le);
	for (size_t i = 0; i < list->nr; i++)
		w->waits_seen += scaled(w, waits_count(&list->waits[i]));
	for (size_t i = 0; i < from->nr; i++) {
		const struct runq_waits *waits = &from->waits[i];
		bool other = waits->group->key == RUNQ_KEY_OTHER;
		/* Sums are over what passes, whatever their names. */
		bool passes = sums ? !other || !runq_filter_any(filter)
				   : runq_filter_passes(filter, waits->group);

		if (!passes && !other)
			continue;
		group_fill(w, waits, le_count, percentile_ns, &w->groups[nr]);
		/* What found no slot is shown in any case, and judged only where all are asked for. */
		if (passes)
			group_judge(w, &w->groups[nr]);
		nr++;
		le_count += w->nr_le;
		percentile_ns += w->nr_percentiles;
	}
	/* A cgroup asked for by name that had no wait is a row of zeros, not a missing one. */
	for (size_t i = 0; i < filter->nr && shows_asked(w); i++) {
		struct runq_waits none = {.group = filter->asked[i]};

		if (list_has(from, none.group->path))
			continue;
		group_fill(w, &none, le_count, percentile_ns, &w->groups[nr++]);
		le_count += w->nr_le;
		percentile_ns += w->nr_percentiles;
	}
	w->nr_groups = nr;
	w->windows_exceeded += w->nr_exceeded > 0;
	return 0;
}

/* A key that no group has: whoever it was is gone. */
#define KEY_GONE (RUNQ_KEY_OTHER - 1)

static uint64_t sum_key(struct runq_sums *sums, const struct runq_kernel *kernel, uint64_t key)
{
	struct runq_party party = runq_kernel_party(kernel, key);
	const struct runq_group *sum;

	if (party.kind == RUNQ_PARTY_GONE)
		return KEY_GONE;
	if (party.kind != RUNQ_PARTY_GROUP)
		return key;
	sum = runq_sums_of(sums, party.group);
	return sum ? sum->key : KEY_GONE;
}

static bool victim_passes(const struct runq_filter *filter, const struct runq_party *victim)
{
	return victim->kind == RUNQ_PARTY_GONE ||
	       runq_filter_passes_party(filter, victim);
}

/* Charges between cgroups become charges between sums; those of victims not asked for are dropped. */
static size_t rows_sum(struct runq_sums *sums, const struct runq_kernel *kernel,
		       const struct runq_filter *filter, struct runq_row *rows, size_t nr)
{
	size_t left = 0;

	for (size_t i = 0; i < nr; i++) {
		struct runq_party victim = runq_kernel_party(kernel, rows[i].pair.victim);

		if (!victim_passes(filter, &victim))
			continue;
		rows[left] = rows[i];
		rows[left].pair.victim = sum_key(sums, kernel, rows[i].pair.victim);
		rows[left++].pair.culprit = sum_key(sums, kernel, rows[i].pair.culprit);
	}
	return runq_rows_merge(rows, left);
}

static struct runq_party row_party(const struct runq_kernel *kernel, const struct runq_sums *sums,
				   uint64_t key)
{
	return sums ? runq_party_of(key, runq_sums_find(sums, key)) : runq_kernel_party(kernel, key);
}

int runq_window_blame(struct runq_window *w, struct runq_kernel *kernel,
		      const struct runq_filter *filter, struct runq_sums *sums,
		      unsigned int per_victim, struct err *err)
{
	struct runq_blame *blame;
	struct runq_row *rows;
	size_t nr, left = 0;
	int rc;

	rc = runq_kernel_blame(kernel, &rows, &nr, err);
	if (rc)
		return rc;
	if (sums)
		nr = rows_sum(sums, kernel, filter, rows, nr);
	nr = runq_rows_rank(rows, nr, per_victim);
	blame = calloc(nr + 1, sizeof(*blame));
	if (!blame)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr; i++) {
		struct runq_party victim = row_party(kernel, sums, rows[i].pair.victim);

		if (!sums && !victim_passes(filter, &victim))
			continue;
		blame[left++] = (struct runq_blame){
			.victim = victim,
			.culprit = row_party(kernel, sums, rows[i].pair.culprit),
			.wait_ns = scaled(w, rows[i].charge.wait_ns),
			.count = scaled(w, rows[i].charge.count),
		};
	}
	free(w->blame);
	w->blame = blame;
	w->nr_blame = left;
	return 0;
}

void runq_window_clear(struct runq_window *w)
{
	free(w->groups);
	free(w->blame);
	free(w->idle_states);
	free(w->pressed);
	w->groups = NULL;
	w->blame = NULL;
	w->idle_states = NULL;
	w->pressed = NULL;
	w->nr_groups = w->nr_blame = w->nr_idle_states = w->nr_pressed = 0;
}
