/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick trace`: records every edge of the chosen cores until the time is up or something happens. */
#ifndef SUBTICK_MEASURE_TRACE_H
#define SUBTICK_MEASURE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "measure/trace/window.h"

struct trace_opts {
	struct cpuset cpus; /* empty: all that are possible */
	enum trace_event on;
	uint64_t on_ns;	      /* how long a wait or an interrupt must be */
	/* TRACE_EVENT_PERCENTILE: whose waits, the share of them above the percentile, the last so many ns. */
	const char *on_cgroup;
	uint32_t above_ppm;
	uint64_t over_ns;
	uint64_t after_ns;    /* how long to go on after the event, at most */
	bool frequency;	      /* also when the kernel sets the frequency of a CPU */
	bool tick;	      /* also which timer interrupts are the tick */
	uint32_t ring_edges;  /* per core, rounded up to a power of two; 0: as memory allows */
};

struct trace;

int trace_open(const struct trace_opts *opts, struct trace **ret_trace, struct err *err);
/* Everything is attached: from here on edges count. */
void trace_start(struct trace *trace);
/* How often to call trace_poll(). */
uint64_t trace_poll_ns(const struct trace_opts *opts);
/*
 * Without an event to wait for it takes the edges out of the rings, so that nothing is overwritten.
 * @ret_done: the event has happened, and what follows it was recorded.
 */
int trace_poll(struct trace *trace, bool *ret_done, struct err *err);
/* Ends the recording. The window stays until the trace is closed. */
int trace_stop(struct trace *trace, const struct trace_window **ret_window, struct err *err);
void trace_close(struct trace *trace);

#endif
