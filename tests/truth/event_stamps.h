/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When subtick's own program stamped a tracepoint hit. Several perf events are opened on the same
 * tracepoint before that program is attached, so they stamp each hit before it does: its stamp is
 * later than their last one, and at most as much later as one more perf event would take.
 */
#ifndef SUBTICK_TESTS_TRUTH_EVENT_STAMPS_H
#define SUBTICK_TESTS_TRUTH_EVENT_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "witness.h"

/*
 * Number of perf events to open on one tracepoint. The list of names contains its name this many
 * times.
 */
#define EVENT_STAMP_TIMES 4

struct event_stamp {
	const char *name; /* the witness's own pointer */
	unsigned int cpu;
	uint64_t first_ns;	  /* by the first perf event */
	uint64_t low_ns, high_ns; /* the program's stamp lies between these … */
	/*
	 * … unless there are two processors, which take turns, and a turn of the other comes before
	 * the stamp. Even then it comes before the next event of the same CPU.
	 */
	uint64_t next_ns;
	const struct witness_hit *hit;
};

/*
 * In order of time. A tracepoint with one perf event has its stamp as both ends.
 * @own_ns: what subtick's program takes from being called to its stamp.
 */
size_t event_stamps(const struct witness *w, uint64_t own_ns, struct event_stamp **ret_stamps);

/* The idle loop's event: @exit of it, or the entry into it. */
bool event_stamp_idle(const struct witness *w, const struct event_stamp *stamp, bool exit);

#endif
