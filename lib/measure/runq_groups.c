/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of the groups that waited in a window. */
#include "measure/runq_groups.h"

#include <errno.h>
#include <stdlib.h>

void *runq_grow(void *array, size_t nr, size_t size)
{
	/* Doubling at powers of two; anything between has room. */
	if (nr & (nr - 1))
		return array;
	return reallocarray(array, nr ? nr * 2 : 1, size);
}

int runq_groups_keep(struct runq_group ***list, size_t *nr, struct runq_group *group,
		     struct err *err)
{
	struct runq_group **more = runq_grow(*list, *nr, sizeof(*more));

	if (!more) {
		free(group->path);
		free(group);
		return err_set(err, -ENOMEM, "out of memory");
	}
	*list = more;
	more[(*nr)++] = group;
	return 0;
}

void runq_groups_free(struct runq_group **groups, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(groups[i]->path);
		free(groups[i]);
	}
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
	uint64_t left = runq_totals_sum_ns(&(*(struct runq_group *const *)a)->totals);
	uint64_t right = runq_totals_sum_ns(&(*(struct runq_group *const *)b)->totals);

	return left > right ? -1 : left < right ? 1 : by_key(a, b);
}

size_t runq_groups_merge(struct runq_group **groups, size_t nr)
{
	size_t left = 0;

	qsort(groups, nr, sizeof(*groups), by_key);
	for (size_t i = 0; i < nr; i++) {
		if (left && groups[left - 1]->key == groups[i]->key) {
			runq_totals_add(&groups[left - 1]->totals, &groups[i]->totals);
			groups[left - 1]->ended |= groups[i]->ended;
			free(groups[i]->path);
			free(groups[i]);
		} else {
			groups[left++] = groups[i];
		}
	}
	qsort(groups, left, sizeof(*groups), by_sum);
	return left;
}
