/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the cost of disabling and enabling interrupts and preemption, in several rounds. */
#ifndef SUBTICK_MEASURE_CRIT_H
#define SUBTICK_MEASURE_CRIT_H

#include "measure/crit/engine.h"
#include "stats/compare.h"

struct crit_result {
	struct crit_round *rounds;
	unsigned int nr_rounds;
	uint64_t window_ns;
};

/*
 * Opens the engine opts->engine. If opts->engine is "auto" or NULL, tries the engine module first,
 * then the engine bpf. If both engines fail, @err has both reasons.
 */
int crit_open(const struct crit_opts *opts, struct crit_engine **ret_engine, struct err *err);
/* Closes the engine, which may be NULL. Sets @err if a machine setting could not be restored. */
int crit_close(struct crit_engine *engine, struct err *err);

/*
 * Runs opts->rounds rounds. If the user stops the run, the result contains the complete rounds.
 * Returns -ECANCELED if the user stopped the run before the end of the first round. @phase is a
 * text for the progress display.
 */
int crit_run(struct crit_engine *engine, const struct crit_opts *opts, const char *phase,
	     struct crit_result *ret_result, struct err *err);
void crit_result_free(struct crit_result *result);

/* Computes the range over all rounds of the double at offset @offset in struct crit_round. */
struct crit_spread crit_figure(const struct crit_result *result, size_t offset);
#define CRIT_FIGURE(result, id, member) \
	crit_figure(result, offsetof(struct crit_round, op[id].member))
/* Result by which two runs are compared: the batch mean if available, else the median. */
struct crit_spread crit_compared(const struct crit_result *result, enum crit_op op);

struct crit_trace {
	struct crit_result off_before;
	struct crit_result on;
	struct crit_result off_after;
	bool has_irq; /* true if the kernel has the events irq_disable and irq_enable */
	bool has_preempt;
};

/*
 * Measures three times: with the preemptirq trace events off, on, and off again. The events are
 * enabled in a separate trace instance, which a guard process removes even if subtick is killed.
 * Sets err->unsupported if the kernel lacks the events. Returns -EBUSY if another process has
 * enabled the events.
 */
int crit_trace_run(struct crit_engine *engine, const struct crit_opts *opts,
		   struct crit_trace *ret_trace, struct err *err);
void crit_trace_free(struct crit_trace *trace);

#endif
