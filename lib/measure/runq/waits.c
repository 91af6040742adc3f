/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Appends, sums, filters and sorts rows of a window. */
#include "measure/runq/waits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static void row_free(struct runq_group_window *row)
{
	runq_group_put(row->party.group);
	free(row->hist.entries);
}

int runq_waits_append(struct runq_waits_list *list, struct runq_group_window row, struct err *err)
{
	if (array_push(list->rows, list->nr, row)) {
		free(row.hist.entries);
		return err_set(err, -ENOMEM, "out of memory");
	}
	runq_group_get(row.party.group);
	return 0;
}

int runq_waits_add(struct runq_group_window *row, const struct runq_group_window *more)
{
	int rc = hist_add(&row->hist, &more->hist);

	if (rc)
		return rc;
	row->count += more->count;
	row->sum_ns += more->sum_ns;
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		row->cause_ns[i] += more->cause_ns[i];
	if (more->max_ns > row->max_ns)
		row->max_ns = more->max_ns;
	row->avoidable_ns += more->avoidable_ns;
	row->avoidable_most_ns += more->avoidable_most_ns;
	row->excluded_ns += more->excluded_ns;
	if (more->avoidable_ns)
		row->idle_cpu = more->idle_cpu;
	if (more->excluded_ns)
		row->excluded_cpu = more->excluded_cpu;
	return 0;
}

void runq_waits_clear(struct runq_waits_list *list)
{
	array_for_each(row, list->rows, list->nr)
		row_free(row);
	free(list->rows);
	*list = (struct runq_waits_list){0};
}

void runq_waits_filter(struct runq_waits_list *list, const struct runq_filter *filter)
{
	size_t left = 0;

	array_for_each(row, list->rows, list->nr)
		if (!row->party.group || runq_filter_passes(filter, row->party.group))
			list->rows[left++] = *row;
		else
			row_free(row);
	list->nr = left;
}

static uint64_t key_of(const struct runq_group_window *row)
{
	return row->party.group ? row->party.group->key : RUNQ_KEY_OTHER;
}

static int by_key(const void *a, const void *b)
{
	return CMP(key_of(a), key_of(b));
}

static int by_sum(const void *a, const void *b)
{
	const struct runq_group_window *x = a, *y = b;

	return CMP(y->sum_ns, x->sum_ns) ?: by_key(a, b);
}

void runq_waits_merge(struct runq_waits_list *list)
{
	struct runq_group_window *rows = list->rows;
	size_t left = 0;
	bool ended = false;

	array_for_each(row, rows, list->nr)
		ended |= row->ended;
	/* merge rows only if a group has ended, because only an ended group can have two rows */
	if (ended) {
		qsort(rows, list->nr, sizeof(*rows), by_key);
		array_for_each(row, rows, list->nr) {
			/* if runq_waits_add() is out of memory, keep both rows of the group */
			if (left && !by_key(&rows[left - 1], row) &&
			    !runq_waits_add(&rows[left - 1], row)) {
				rows[left - 1].ended |= row->ended;
				row_free(row);
			} else {
				rows[left++] = *row;
			}
		}
		list->nr = left;
	}
	if (list->nr)
		qsort(rows, list->nr, sizeof(*rows), by_sum);
}
