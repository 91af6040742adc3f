/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a recorded trace to a file: HTML page, Chrome, Perfetto or JSON Lines. */
#ifndef SUBTICK_TRACEFILE_H
#define SUBTICK_TRACEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/trace/window.h"

struct tracefile {
	const struct trace_window *window;
	const char *machine;	      /* names of host and kernel, or NULL */
	size_t max_slices, max_waits; /* limits of the HTML page */
};

/* The writers return 0, -ENOMEM or the -errno of the stream. */
typedef int tracefile_writer(FILE *out, const struct tracefile *file);

/*
 * Writes JSON Lines: one object per event, sorted by CPU, then one object per throttled or
 * avoidable part of a wait.
 */
tracefile_writer tracefile_lines;
/* Writes the JSON format of chrome://tracing, which Perfetto and Speedscope also open. */
tracefile_writer tracefile_chrome;
/* Writes Perfetto's binary format with ftrace events, from which Perfetto fills its tables. */
tracefile_writer tracefile_perfetto;
/* Writes a self-contained HTML page with a zoomable picture of slices and waits. */
tracefile_writer tracefile_html;

/* Kind of an event before which events of its CPU are missing. */
#define TRACEFILE_GAP	   ((enum trace_kind)TRACE_NR_KINDS)
#define TRACEFILE_NR_KINDS (TRACE_NR_KINDS + 1)

/* Decoded trace record. */
struct tracefile_event {
	uint64_t ns; /* CLOCK_MONOTONIC */
	/* never TRACE_IPI_ENTER or TRACE_VECTOR_ENTER, which become TRACE_IRQ_ENTER */
	enum trace_kind kind;
	uint32_t cpu;
	/*
	 * `pid` and `other` are the first and second argument of a record of a task (abi/trace.h).
	 * `arg` is the task state as ftrace shows it, the CPU of a wake-up or migration, the number
	 * of an interrupt line, softirq vector or idle state, or a frequency in kHz. The CPU of a
	 * frequency is in `other`.
	 */
	uint32_t pid, other, arg;
	bool throttled;	  /* for TRACE_SWITCH and TRACE_WAKEUP: CPU quota throttles `pid` */
	const char *name; /* name of the interrupt or softirq, or NULL */
};

/* Part of a wait: CPU quota throttled the task, or another allowed CPU was idle (avoidable). */
struct tracefile_part {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	uint32_t cpu, pid;
	bool avoidable;
};

/* Calls @on_event for each event, sorted by CPU, then by time. */
void tracefile_events(const struct trace_window *w,
		      void (*on_event)(void *arg, const struct tracefile_event *event), void *arg);
/* Calls @on_part for each throttled or avoidable part of a wait, sorted by the end of the wait. */
void tracefile_parts(const struct trace_window *w,
		     void (*on_part)(void *arg, const struct tracefile_part *part), void *arg);

/* Slices and waits of the HTML page. */
struct tracefile_picture {
	uint64_t from_ns,
		to_ns; /* time range of the slices, in ns since the start of the recording */
	size_t nr_slices, all_slices; /* number of slices in the time range, and in the recording */
	struct trace_wait *waits;     /* longest waits, longest first; the caller frees the array */
	size_t nr_waits;
};

/*
 * Selects at most @file->max_slices slices around the event that ended the recording or, without
 * an event, around the longest wait. Returns 0 or -ENOMEM.
 */
int tracefile_picture(const struct tracefile *file, struct tracefile_picture *ret_picture);

#endif
