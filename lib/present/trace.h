/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report and the timeline of a trace. */
#ifndef SUBTICK_PRESENT_TRACE_H
#define SUBTICK_PRESENT_TRACE_H

#include "measure/trace/window.h"
#include "report/columns.h"
#include "report/timeline.h"

extern const struct table_spec *const trace_tables[]; /* NULL-terminated */

/* @top: maximum number of waits and of tasks; 0: all. */
int trace_report(const struct trace_window *window, uint32_t top, struct report **ret_report);

/*
 * "timer", or the name of another interrupt or softirq that woke the task. NULL if a task did, or if
 * the core that the wake-up came from was not recorded. Belongs to @w.
 */
const char *trace_waker_irq(const struct trace_window *w, const struct trace_wait *wait);
/* Sentence on the event that ended the recording, to be freed; NULL without event or memory. */
char *trace_ended(const struct trace_window *w);

/* The names in @ret_timeline belong to @w. 0 or -ENOMEM. */
int trace_timeline(const struct trace_window *w, struct timeline *ret_timeline);
/*
 * Adds the picture: at most @max_slices slices around the event, or around the longest wait if there
 * is no event, and the @max_waits longest waits. 0 or -ENOMEM.
 */
int trace_timeline_picture(const struct trace_window *w, size_t max_slices, size_t max_waits,
			   struct timeline *timeline);
void trace_timeline_free(struct timeline *timeline);

#endif
