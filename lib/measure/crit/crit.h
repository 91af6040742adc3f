/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost of disabling and enabling interrupts and preemption: rounds of a benchmark. */
#ifndef SUBTICK_MEASURE_CRIT_H
#define SUBTICK_MEASURE_CRIT_H

#include "measure/crit/engine.h"
#include "report/report.h"
#include "stats/crit.h"

struct crit_result {
	struct crit_round *rounds;
	unsigned int nr_rounds;
	uint64_t window_ns;
};

/* By name, or "auto"/NULL: the module if it can be had, else bpf; @err then holds both reasons. */
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

/* "p50", "p999" for 99.9: JSON keys have no dots of their own here. */
void crit_percentile_key(uint32_t percentile, char *key, size_t size);

/* One figure of the rounds, by its place in struct crit_figures. */
struct crit_spread crit_figure(const struct crit_result *result, enum crit_op op, size_t offset);
#define CRIT_FIGURE(result, op, member) \
	crit_figure(result, op, offsetof(struct crit_figures, member))
/* What two runs are compared by: the mean in batches where there is one, else the median. */
struct crit_spread crit_compared(const struct crit_result *result, enum crit_op op);

/* A run read back from a file, as far as comparing needs it. */
struct crit_baseline {
	char name[256]; /* of the file */
	char engine[16];
	bool work;
	struct crit_spread op[CRIT_NR_OPS];
};

/* The three phases of crit_trace_run(). */
struct crit_trace {
	struct crit_result off_before;
	struct crit_result on;
	struct crit_result off_after;
	bool has_irq; /* which of the events this kernel has */
	bool has_preempt;
};

/*
 * @baseline and @trace are optional; with @trace, @result is its off_before. The report's figures
 * are each round's typical one: the median over the rounds, but the maximum of the maxima.
 */
int crit_report(const struct crit_engine *engine, const struct crit_opts *opts,
		const struct crit_result *result, const struct crit_trace *trace,
		const struct crit_baseline *baseline, struct report **ret_report);

/*
 * Measures with the preemptirq events off, on and off again. They are enabled in a trace instance
 * of our own, which a guard process removes however we end. Refuses with err->unsupported where
 * the kernel lacks the events, and with -EBUSY where somebody else has them enabled.
 */
int crit_trace_run(struct crit_engine *engine, const struct crit_opts *opts,
		   struct crit_trace *ret_trace, struct err *err);
void crit_trace_free(struct crit_trace *trace);

#endif
