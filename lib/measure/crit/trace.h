/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost that enabling the irq and preempt tracepoints adds. */
#ifndef SUBTICK_MEASURE_CRIT_TRACE_H
#define SUBTICK_MEASURE_CRIT_TRACE_H

#include "measure/crit/crit.h"

/* The three phases of crit_trace_run(). */
struct crit_trace {
	struct crit_result off_before;
	struct crit_result on;
	struct crit_result off_after;
	bool has_irq; /* which of the events this kernel has */
	bool has_preempt;
};

/*
 * Measures with the preemptirq events off, on and off again. They are enabled in a trace instance
 * of our own, which a guard process removes however we end. err->unsupported if the kernel lacks
 * the events, -EBUSY if another process has enabled them.
 */
int crit_trace_run(struct crit_engine *engine, const struct crit_opts *opts,
		   struct crit_trace *ret_trace, struct err *err);
void crit_trace_free(struct crit_trace *trace);

#endif
