/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes a window: counts and percentiles of groups, blame, and the comparison with run_delay. */
#include "measure/runq/window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "measure/load/window.h"
#include "measure/runq/kernel.h"
#include "measure/runq/rollup.h"
#include "stats/runq.h"

static uint64_t scaled(const struct runq_window *w, uint64_t figure)
{
	return w->sample_ratio < 1.0 ? (uint64_t)llround((double)figure / w->sample_ratio) : figure;
}

static void row_scale(const struct runq_window *w, uint64_t *le_count, struct runq_group_window *row)
{
	row->count = scaled(w, row->count);
	row->sum_ns = scaled(w, row->sum_ns);
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		row->cause_ns[i] = scaled(w, row->cause_ns[i]);
	for (unsigned int i = 0; i < w->nr_le; i++)
		le_count[i] = scaled(w, le_count[i]);
}

/*
 * Computes le_count, percentiles, mean, maximum and standard errors of a row. @le_count and
 * @percentile_ns point to the memory for the results.
 */
static void row_fill(const struct runq_window *w, const struct hist_scale *scale,
		     uint64_t *le_count, double *percentile_ns, struct runq_group_window *row)
{
	row->le_count = le_count;
	row->percentile_ns = percentile_ns;
	row->judged_ns = row->avg_ns = row->count_stderr_ratio = row->sum_stderr_ratio = NAN;
	row->max_ns = hist_max(scale, &row->hist, row->max_ns);
	runq_le_counts(scale, &row->hist, w->le_ns, w->nr_le, le_count);
	for (unsigned int i = 0; i < w->nr_percentiles; i++)
		percentile_ns[i] = row->count ? hist_value_at(scale, &row->hist, row->max_ns,
							      w->percentiles[i])
					      : NAN;
	if (row->count)
		row->avg_ns = (double)row->sum_ns / (double)row->count;
	if (row->count && w->limit_percent > 0.0)
		row->judged_ns =
			hist_value_at(scale, &row->hist, row->max_ns, w->limit_percent);
	if (w->sample_ratio >= 1.0)
		return;
	row->count_stderr_ratio = runq_count_stderr(row->count, w->sample_ratio);
	if (!w->steps_only)
		row->sum_stderr_ratio = runq_sum_stderr(&row->hist, w->sample_ratio);
	row_scale(w, le_count, row);
}

static bool list_has(const struct runq_waits_list *list, const char *path)
{
	array_for_each(row, list->rows, list->nr)
		if (!strcmp(runq_party_path(&row->party), path))
			return true;
	return false;
}

/* Adds a row of zeros for each requested cgroup without a wait. */
static int add_silent(const struct runq_window *w, struct runq_waits_list *list,
		      const struct runq_filter *filter, struct err *err)
{
	if (w->per != RUNQ_PER_CGROUP || (w->sum != ROLLUP_NONE && w->sum != ROLLUP_REQUESTED))
		return 0;
	array_for_each(group, filter->requested, filter->nr) {
		struct runq_group_window zeros = {.party = {RUNQ_PARTY_GROUP, *group}};

		if (!list_has(list, (*group)->path) && runq_waits_append(list, zeros, err))
			return -ENOMEM;
	}
	return 0;
}

int runq_window_groups(struct runq_window *w, struct runq_waits_list *list,
		       const struct runq_filter *filter, struct runq_rollup *rollup,
		       struct err *err)
{
	struct hist_scale scale = runq_scale(w->steps_only, w->le_ns, w->nr_le);
	struct runq_waits_list *from = rollup ? &rollup->waits : list;
	double *percentile_ns;
	uint64_t *le_count;

	w->nr_exceeded = 0;
	w->waits_seen = 0;
	array_for_each(row, list->rows, list->nr)
		w->waits_seen += scaled(w, row->count);
	if (!rollup)
		runq_waits_filter(list, filter);
	if (add_silent(w, from, filter, err))
		return -ENOMEM;
	/* one memory block for the boundary counts and percentiles of all rows */
	le_count = calloc(from->nr + 1,
			  w->nr_le * sizeof(uint64_t) + w->nr_percentiles * sizeof(double));
	if (!le_count)
		return err_set(err, -ENOMEM, "out of memory");
	free(w->figures);
	w->figures = le_count;
	percentile_ns = (double *)(le_count + from->nr * w->nr_le);
	w->groups = from->rows;
	w->nr_groups = from->nr;
	array_for_each(row, from->rows, from->nr) {
		row_fill(w, &scale, le_count, percentile_ns, row);
		le_count += w->nr_le;
		percentile_ns += w->nr_percentiles;
		/* RUNQ_PARTY_OTHER can exceed the limit only if it passes the filter */
		if (row->party.group || (rollup ? !runq_filter_any(filter)
						: runq_filter_passes_party(filter, &row->party)))
			row->exceeded = row->judged_ns > (double)w->limit_ns;
		w->nr_exceeded += row->exceeded;
	}
	w->windows_exceeded += w->nr_exceeded > 0;
	return 0;
}

/* Key of all groups that ended before their names were read. */
#define KEY_GONE (RUNQ_KEY_EXCLUDED - 1)

static uint64_t rollup_key(struct runq_rollup *rollup, const struct runq_party *party, uint64_t key)
{
	const struct runq_group *row;

	if (party->kind == RUNQ_PARTY_GONE)
		return KEY_GONE;
	if (!rollup || party->kind != RUNQ_PARTY_GROUP)
		return key;
	row = runq_rollup_of(rollup, party->group);
	return row ? row->key : KEY_GONE;
}

/*
 * Drops each pair whose victim does not pass the filter, and merges groups without a name. If @fold
 * is true, replaces excluded culprits by RUNQ_KEY_EXCLUDED. If @rollup is not NULL, replaces
 * victims and culprits by their rollup rows.
 */
static size_t blame_filter(struct runq_rollup *rollup, const struct runq_kernel *kernel,
			   const struct runq_filter *filter, bool fold, struct runq_row *rows,
			   size_t nr)
{
	size_t left = 0;

	array_for_each(row, rows, nr) {
		struct runq_pair pair = row->pair;
		struct runq_party victim = runq_kernel_party(kernel, pair.victim);
		struct runq_party culprit = runq_kernel_party(kernel, pair.culprit);

		if (victim.kind != RUNQ_PARTY_GONE && !runq_filter_passes_party(filter, &victim))
			continue;
		pair.victim = rollup_key(rollup, &victim, pair.victim);
		pair.culprit = fold && culprit.group && !runq_filter_passes(filter, culprit.group)
				       ? RUNQ_KEY_EXCLUDED
				       : rollup_key(rollup, &culprit, pair.culprit);
		rows[left++] = (struct runq_row){pair, row->charge};
	}
	return runq_rows_merge(rows, left);
}

static struct runq_party row_party(const struct runq_kernel *kernel,
				   const struct runq_rollup *rollup, uint64_t key)
{
	return rollup ? runq_party_of(key, runq_rollup_find(rollup, key))
		      : runq_kernel_party(kernel, key);
}

/*
 * Filters, merges and sorts the @nr pairs of victim and culprit in @rows. Frees the previous array
 * *ret_pairs and replaces it.
 */
static int pairs_fill(const struct runq_kernel *kernel, const struct runq_filter *filter,
		      struct runq_rollup *rollup, const struct runq_opts *opts,
		      struct runq_row *rows, size_t nr, struct runq_blame **ret_pairs,
		      size_t *ret_nr, struct err *err)
{
	struct runq_blame *pairs;

	nr = blame_filter(rollup, kernel, filter, opts->fold_excluded, rows, nr);
	nr = runq_rows_rank(rows, nr, opts->blame_rows);
	pairs = calloc(nr + 1, sizeof(*pairs));
	if (!pairs)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr; i++)
		pairs[i] = (struct runq_blame){
			.victim = row_party(kernel, rollup, rows[i].pair.victim),
			.culprit = row_party(kernel, rollup, rows[i].pair.culprit),
			.wait_ns = rows[i].charge.wait_ns,
			.count = rows[i].charge.count,
		};
	free(*ret_pairs);
	*ret_pairs = pairs;
	*ret_nr = nr;
	return 0;
}

int runq_window_blame(struct runq_window *w, struct runq_kernel *kernel,
		      const struct runq_filter *filter, struct runq_rollup *rollup,
		      const struct runq_opts *opts, struct err *err)
{
	struct runq_row *rows;
	size_t nr;
	int rc = runq_kernel_blame(kernel, &rows, &nr, err);

	if (!rc)
		rc = pairs_fill(kernel, filter, rollup, opts, rows, nr, &w->blame, &w->nr_blame,
				err);
	array_for_each(pair, w->blame, rc ? 0 : w->nr_blame) {
		pair->wait_ns = scaled(w, pair->wait_ns);
		pair->count = scaled(w, pair->count);
	}
	return rc;
}

static int by_cgroup(const void *a, const void *b)
{
	const struct runq_group *x = *(struct runq_group *const *)a;
	const struct runq_group *y = *(struct runq_group *const *)b;

	return CMP(x->cgroup_id, y->cgroup_id);
}

/* Returns the key of the group with @cgroup_id. @groups is sorted by cgroup id. */
static uint64_t key_of_cgroup(struct runq_group *const *groups, size_t nr, uint64_t cgroup_id)
{
	const struct runq_group wanted = {.cgroup_id = cgroup_id}, *at = &wanted;
	struct runq_group *const *found = bsearch(&at, groups, nr, sizeof(*groups), by_cgroup);

	/* cgroup id 0 is the sum of all pairs that did not fit into the map of the load programs */
	if (!cgroup_id)
		return RUNQ_KEY_OTHER;
	return found ? (*found)->key : RUNQ_KEY_UNKNOWN;
}

int runq_window_core_pairs(struct runq_window *w, const struct load_pair *pairs, size_t nr_pairs,
			   const struct runq_kernel *kernel, const struct runq_filter *filter,
			   struct runq_rollup *rollup, const struct runq_opts *opts,
			   struct err *err)
{
	size_t nr;
	struct runq_group *const *known = runq_kernel_groups(kernel, &nr);
	struct runq_group **groups = calloc(nr + 1, sizeof(struct runq_group *));
	struct runq_row *rows = calloc(nr_pairs + 1, sizeof(*rows));
	int rc;

	if (!groups || !rows) {
		rc = err_set(err, -ENOMEM, "out of memory");
	} else {
		if (nr)
			memcpy(groups, known, nr * sizeof(struct runq_group *));
		qsort(groups, nr, sizeof(struct runq_group *), by_cgroup);
		for (size_t i = 0; i < nr_pairs; i++)
			rows[i] = (struct runq_row){
				.pair = {key_of_cgroup(groups, nr, pairs[i].id[0]),
					 key_of_cgroup(groups, nr, pairs[i].id[1])},
				.charge = {.wait_ns = pairs[i].ns, .count = 1}};
		rc = pairs_fill(kernel, filter, rollup, opts, rows, nr_pairs, &w->core_pairs,
				&w->nr_core_pairs, err);
	}
	free(groups);
	free(rows);
	return rc;
}

void runq_window_clear(struct runq_window *w)
{
	free(w->figures);
	free(w->blame);
	free(w->core_pairs);
	free(w->idle_states);
	free(w->pressed);
	w->groups = NULL;
	w->figures = NULL;
	w->blame = w->core_pairs = NULL;
	w->idle_states = NULL;
	w->pressed = NULL;
	w->nr_groups = w->nr_blame = w->nr_core_pairs = w->nr_idle_states = w->nr_pressed = 0;
}

double runq_schedstat_ratio(const struct runq_losses *was, const struct runq_losses *now)
{
	double accounted = (double)(now->wait_ns - was->wait_ns) -
			   (double)(now->missing_ns - was->missing_ns);

	if (!now->delay_ns || now->delay_ns <= was->delay_ns)
		return NAN;
	return accounted / (double)(now->delay_ns - was->delay_ns);
}

double runq_missing_ratio(const struct runq_losses *was, const struct runq_losses *now)
{
	if (now->wait_ns == was->wait_ns)
		return NAN;
	return (double)(now->missing_ns - was->missing_ns) /
	       (double)(now->wait_ns - was->wait_ns);
}
