/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounds for the time at which subtick's program stamped a tracepoint hit. Several perf events are
 * opened on the same tracepoint before that program is attached, so all of them stamp each hit
 * first. The program's stamp comes after the last perf stamp, by at most the time of one more perf
 * event.
 */
#ifndef SUBTICK_TESTS_TRUTH_EVENT_STAMPS_H
#define SUBTICK_TESTS_TRUTH_EVENT_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "witness.h"

/*
 * Number of perf events to open on one tracepoint. The list of names contains the name of the
 * tracepoint this many times.
 */
#define EVENT_STAMP_TIMES 4

struct event_stamp {
	const char *name; /* event name, in the memory of the witness */
	unsigned int cpu;
	uint64_t first_ns;	  /* stamp of the first perf event */
	uint64_t low_ns, high_ns; /* lower bound of the program's stamp */
	/*
	 * Upper bound of the program's stamp. With two processors QEMU may run the other processor
	 * before subtick's program takes its stamp. The bound is then the time of the next event on
	 * the same CPU.
	 */
	uint64_t next_ns;
	const struct witness_hit *hit;
};

/*
 * The result is sorted by time. If a tracepoint has only one perf event, its lower and upper bounds
 * are equal. @own_ns: time from the call of subtick's program to its stamp.
 */
size_t event_stamps(const struct witness *w, uint64_t own_ns, struct event_stamp **ret_stamps);

/* True for an event of the idle loop: an idle exit if @exit, else an idle entry. */
bool event_stamp_idle(const struct witness *w, const struct event_stamp *stamp, bool exit);

#endif
