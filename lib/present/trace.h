/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of a trace, and names wakers and interrupts. */
#ifndef SUBTICK_PRESENT_TRACE_H
#define SUBTICK_PRESENT_TRACE_H

#include "measure/trace/window.h"
#include "report/columns.h"

extern const struct table_spec *const trace_tables[]; /* NULL-terminated list of all tables */

/* Builds the report of a trace. @top is the maximum number of waits and of tasks, or 0 for all. */
int trace_report(const struct trace_window *window, uint32_t top, struct report **ret_report);

/*
 * Name of the interrupt or softirq that woke the waiting task, or "timer" for all kinds of timers.
 * Returns NULL if a task woke the waiting task, or if the waking core was not recorded. @w owns the
 * name.
 */
const char *trace_waker_irq(const struct trace_window *w, const struct trace_wait *wait);
/* Name of the interrupt or softirq of a slice, or NULL for a slice of another kind. */
const char *trace_slice_name(const struct trace_window *w, const struct trace_slice *slice);
/*
 * Sentence about the event that ended the recording, or NULL if no event ended the recording. The
 * caller frees the sentence.
 */
char *trace_ended(const struct trace_window *w);

#endif
