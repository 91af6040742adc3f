/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of both engines of `subtick crit`: names of operations, and results over all CPUs. */
#include "measure/crit/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const crit_op_names[CRIT_NR_OPS] = {
	[CRIT_IRQ] = "irq",
	[CRIT_PREEMPT] = "preempt",
	[CRIT_IRQ_SAVE] = "irq_save",
};

int crit_combine(struct crit_round *round, enum crit_op op, struct err *err)
{
	struct tb_summary *cpus = calloc(round->nr_cpus + 1, sizeof(*cpus)), all;
	u64 *scratch = calloc(round->nr_cpus + 1, sizeof(*scratch));
	int rc = cpus && scratch ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < round->nr_cpus && !rc; i++)
		cpus[i] = round->cpus[i].op[op];
	rc = rc ?: tb_combine(cpus, round->nr_cpus, scratch, &all);
	if (!rc) {
		round->op[op].median = all.median;
		round->op[op].average = all.average;
		round->op[op].max = all.max;
	}
	free(cpus);
	free(scratch);
	return rc ? err_set(err, rc, "cannot combine the figures: %s", strerror(-rc)) : 0;
}
