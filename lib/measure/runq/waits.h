/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each group has waited in a window, as read from the slots. */
#ifndef SUBTICK_MEASURE_RUNQ_WAITS_H
#define SUBTICK_MEASURE_RUNQ_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/group.h"
#include "stats/runq_pack.h"
#include "stats/runq_steps.h"

struct runq_waits {
	struct runq_group *group; /* a reference */
	bool ended;		  /* its cgroup or task was gone by the end of the window */
	uint64_t sum_ns;
	struct runq_packed *totals;
	struct runq_step_totals *steps; /* instead, where slots count at boundaries only */
};

struct runq_waits_list {
	struct runq_waits *waits;
	size_t nr;
};

/* Appends what @group has waited, with a reference of its own. */
int runq_waits_add(struct runq_waits_list *list, struct runq_group *group, bool ended,
		   const struct runq_totals *totals, struct err *err);
int runq_waits_add_steps(struct runq_waits_list *list, struct runq_group *group, bool ended,
			 const struct runq_step_totals *steps, struct err *err);
/* Largest sum first. A group that ended may have come back for a last wait: one row, not two. */
void runq_waits_merge(struct runq_waits_list *list);
void runq_waits_clear(struct runq_waits_list *list);

#endif
