/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick trace`: records every context change of the cores until a timeout or an event. */
#ifndef SUBTICK_MEASURE_TRACE_H
#define SUBTICK_MEASURE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "measure/trace/window.h"

struct trace_opts {
	struct cpuset cpus; /* CPUs to record; empty for all possible CPUs */
	enum trace_event on;
	uint64_t on_ns; /* minimum length of a wait or an interrupt that counts as the --on event */
	/*
	 * For TRACE_EVENT_PERCENTILE. on_cgroup: path of the cgroup. above_ppm: share of the
	 * cgroup's waits that are longer than the percentile, in ppm. over_ns: length of the
	 * sliding window.
	 */
	const char *on_cgroup;
	uint32_t above_ppm;
	uint64_t over_ns;
	/* maximum time for which the recording continues after the --on event */
	uint64_t after_ns;
	bool frequency;	      /* also record changes of CPU frequencies */
	bool tick;	      /* also record whether a timer interrupt is a tick */
	/* records in each core's ring, rounded up to a power of two; 0 for the default */
	uint32_t ring_edges;
};

struct trace;

int trace_open(const struct trace_opts *opts, struct trace **ret_trace, struct err *err);
/* Starts the recording. trace_open() has already attached all BPF programs. */
void trace_start(struct trace *trace);
/* Returns the interval at which the caller must call trace_poll(). */
uint64_t trace_poll_ns(const struct trace_opts *opts);
/*
 * Without --on, reads new records before the core overwrites them. With --on, sets *@ret_done when
 * the recording after the event is complete.
 */
int trace_poll(struct trace *trace, bool *ret_done, struct err *err);
/* Ends the recording. The window is valid until the trace is closed. */
int trace_stop(struct trace *trace, const struct trace_window **ret_window, struct err *err);
void trace_close(struct trace *trace);

#endif
