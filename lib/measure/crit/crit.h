/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost of disabling and enabling interrupts and preemption: rounds of a benchmark. */
#ifndef SUBTICK_MEASURE_CRIT_H
#define SUBTICK_MEASURE_CRIT_H

#include "measure/crit/engine.h"
#include "stats/crit.h"

struct crit_result {
	struct crit_round *rounds;
	unsigned int nr_rounds;
	uint64_t window_ns;
};

/* By name, or "auto"/NULL: the module if it works here, else bpf; @err then holds both reasons. */
int crit_open(const struct crit_opts *opts, struct crit_engine **ret_engine, struct err *err);
/* NULL is fine. An error is something that is left behind. */
int crit_close(struct crit_engine *engine, struct err *err);

/*
 * Runs opts->rounds rounds; a stop ends it with those that are complete. -ECANCELED when there is
 * none. @phase is for progress only.
 */
int crit_run(struct crit_engine *engine, const struct crit_opts *opts, const char *phase,
	     struct crit_result *ret_result, struct err *err);
void crit_result_free(struct crit_result *result);

/* One figure of the rounds, by its place in struct crit_figures. */
struct crit_spread crit_figure(const struct crit_result *result, enum crit_op op, size_t offset);
#define CRIT_FIGURE(result, op, member) \
	crit_figure(result, op, offsetof(struct crit_figures, member))
/* What two runs are compared by: the mean in batches where there is one, else the median. */
struct crit_spread crit_compared(const struct crit_result *result, enum crit_op op);

#endif
