/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of the groups that waited in a window. */
#include "measure/runq/groups.h"

#include <errno.h>
#include <stdlib.h>

void *runq_grow(void *array, size_t nr, size_t size)
{
	/* Doubling at powers of two; anything between has room. */
	if (nr & (nr - 1))
		return array;
	return reallocarray(array, nr ? nr * 2 : 1, size);
}

void runq_group_free(struct runq_group *group)
{
	free(group->path);
	free(group->waits);
	free(group);
}

int runq_groups_keep(struct runq_group ***list, size_t *nr, struct runq_group *group,
		     struct err *err)
{
	struct runq_group **more = runq_grow(*list, *nr, sizeof(*more));

	if (!more) {
		runq_group_free(group);
		return err_set(err, -ENOMEM, "out of memory");
	}
	*list = more;
	more[(*nr)++] = group;
	return 0;
}

void runq_groups_free(struct runq_group **groups, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		runq_group_free(groups[i]);
	free(groups);
}

static int by_key(const void *a, const void *b)
{
	const struct runq_group *left = *(struct runq_group *const *)a,
				*right = *(struct runq_group *const *)b;

	return left->key < right->key ? -1 : left->key > right->key;
}

static int by_sum(const void *a, const void *b)
{
	uint64_t left = (*(struct runq_group *const *)a)->sum_ns;
	uint64_t right = (*(struct runq_group *const *)b)->sum_ns;

	return left > right ? -1 : left < right ? 1 : by_key(a, b);
}

/* False for want of memory; then @group is as it was. */
static bool group_add(struct runq_group *group, const struct runq_group *more)
{
	struct runq_totals totals, other;
	struct runq_packed *sum;

	runq_unpack(group->waits, &totals);
	runq_unpack(more->waits, &other);
	runq_totals_add(&totals, &other);
	sum = runq_pack(&totals);
	if (!sum)
		return false;
	free(group->waits);
	group->waits = sum;
	group->sum_ns += more->sum_ns;
	group->ended |= more->ended;
	return true;
}

size_t runq_groups_merge(struct runq_group **groups, size_t nr)
{
	size_t left = 0;

	qsort(groups, nr, sizeof(*groups), by_key);
	for (size_t i = 0; i < nr; i++) {
		/* Two rows are better than waits that nobody sees. */
		if (left && groups[left - 1]->key == groups[i]->key &&
		    group_add(groups[left - 1], groups[i]))
			runq_group_free(groups[i]);
		else
			groups[left++] = groups[i];
	}
	qsort(groups, left, sizeof(*groups), by_sum);
	return left;
}
