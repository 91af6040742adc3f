/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of what the groups of a window have waited. */
#include "measure/runq/waits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

static void waits_free(struct runq_waits *waits)
{
	runq_group_put(waits->group);
	free(waits->totals);
	free(waits->steps);
}

/* Takes over the memory of @waits, also if it fails. */
static int waits_append(struct runq_waits_list *list, struct runq_group *group,
			struct runq_waits waits, struct err *err)
{
	struct runq_waits *more = grow(list->waits, list->nr, sizeof(*more));

	if (!more) {
		waits_free(&waits);
		return err_set(err, -ENOMEM, "out of memory");
	}
	waits.group = runq_group_get(group);
	list->waits = more;
	more[list->nr++] = waits;
	return 0;
}

int runq_waits_add(struct runq_waits_list *list, struct runq_group *group, bool ended,
		   const struct runq_totals *totals, struct err *err)
{
	struct runq_packed *packed = runq_pack(totals);

	if (!packed)
		return err_set(err, -ENOMEM, "out of memory");
	return waits_append(list, group,
			    (struct runq_waits){.ended = ended,
						.sum_ns = runq_totals_sum_ns(totals),
						.totals = packed},
			    err);
}

int runq_waits_add_steps(struct runq_waits_list *list, struct runq_group *group, bool ended,
			 const struct runq_step_totals *steps, struct err *err)
{
	struct runq_step_totals *copy = runq_steps_copy(steps);

	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	return waits_append(list, group,
			    (struct runq_waits){.ended = ended,
						.sum_ns = runq_steps_sum_ns(steps),
						.steps = copy},
			    err);
}

void runq_waits_clear(struct runq_waits_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		waits_free(&list->waits[i]);
	free(list->waits);
	*list = (struct runq_waits_list){0};
}

static int by_key(const void *a, const void *b)
{
	uint64_t left = ((const struct runq_waits *)a)->group->key;
	uint64_t right = ((const struct runq_waits *)b)->group->key;

	return left < right ? -1 : left > right;
}

static int by_sum(const void *a, const void *b)
{
	uint64_t left = ((const struct runq_waits *)a)->sum_ns;
	uint64_t right = ((const struct runq_waits *)b)->sum_ns;

	return left > right ? -1 : left < right ? 1 : by_key(a, b);
}

/* False for want of memory; then @waits is as it was. */
static bool waits_sum(struct runq_waits *waits, const struct runq_waits *more)
{
	struct runq_totals totals, other;
	struct runq_packed *sum;

	if (waits->steps) {
		runq_steps_add(waits->steps, more->steps);
		waits->sum_ns += more->sum_ns;
		waits->ended |= more->ended;
		return true;
	}
	runq_unpack(waits->totals, &totals);
	runq_unpack(more->totals, &other);
	runq_totals_add(&totals, &other);
	sum = runq_pack(&totals);
	if (!sum)
		return false;
	free(waits->totals);
	waits->totals = sum;
	waits->sum_ns += more->sum_ns;
	waits->ended |= more->ended;
	return true;
}

void runq_waits_merge(struct runq_waits_list *list)
{
	struct runq_waits *waits = list->waits;
	size_t left = 0;

	if (!list->nr)
		return;
	/* A group can be there twice only if it has ended; mostly none has. */
	while (left < list->nr && !waits[left].ended)
		left++;
	if (left == list->nr) {
		qsort(waits, list->nr, sizeof(*waits), by_sum);
		return;
	}
	left = 0;
	qsort(waits, list->nr, sizeof(*waits), by_key);
	for (size_t i = 0; i < list->nr; i++) {
		/* Two rows are better than waits that nobody sees. */
		if (left && waits[left - 1].group->key == waits[i].group->key &&
		    waits_sum(&waits[left - 1], &waits[i]))
			waits_free(&waits[i]);
		else
			waits[left++] = waits[i];
	}
	list->nr = left;
	qsort(waits, left, sizeof(*waits), by_sum);
}
