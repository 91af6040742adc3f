/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of groups, of which each owns what it holds. */
#ifndef SUBTICK_MEASURE_RUNQ_GROUPS_H
#define SUBTICK_MEASURE_RUNQ_GROUPS_H

#include "measure/runq/kernel.h"

/* Room for one more than @nr in @array; NULL if there is none, and then it stays as it was. */
void *runq_grow(void *array, size_t nr, size_t size);

void runq_group_free(struct runq_group *group);
/* Takes @group over, also when it fails. */
int runq_groups_keep(struct runq_group ***list, size_t *nr, struct runq_group *group,
		     struct err *err);
void runq_groups_free(struct runq_group **groups, size_t nr);
/*
 * Largest sum first. A group that ended may have come back for a last wait: one row, not two.
 * Returns how many are left.
 */
size_t runq_groups_merge(struct runq_group **groups, size_t nr);

#endif
