/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the engines of crit: names of the operations, an empty round. */
#include "measure/crit/engine.h"

#include <math.h>

const char *const crit_op_names[CRIT_NR_OPS] = {
	[CRIT_IRQ] = "irq",
	[CRIT_PREEMPT] = "preempt",
	[CRIT_IRQ_SAVE] = "irq_save",
};

void crit_round_clear(struct crit_round *round)
{
	*round = (struct crit_round){.clock_ns = NAN, .call_ns = NAN, .percentile_cpu = -1};
	for (int op = 0; op < CRIT_NR_OPS; op++) {
		struct crit_figures *f = &round->op[op];

		f->median = f->average = f->max = f->max_avg = f->batch = NAN;
		for (int i = 0; i < CRIT_MAX_PERCENTILES; i++)
			f->percentile[i] = NAN;
	}
}
