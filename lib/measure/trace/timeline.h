/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the timeline of a trace, for files. */
#ifndef SUBTICK_MEASURE_TRACE_TIMELINE_H
#define SUBTICK_MEASURE_TRACE_TIMELINE_H

#include "measure/trace/window.h"
#include "report/timeline.h"

/* Its names belong to @w. 0 or -ENOMEM. */
int trace_timeline(const struct trace_window *w, struct timeline *ret_timeline);
/*
 * Adds what a picture shows: at most @max_slices slices, those around the event or else around the
 * longest wait, and the @max_waits longest waits. 0 or -ENOMEM.
 */
int trace_timeline_picture(const struct trace_window *w, size_t max_slices, size_t max_waits,
			   struct timeline *timeline);
void trace_timeline_free(struct timeline *timeline);

#endif
