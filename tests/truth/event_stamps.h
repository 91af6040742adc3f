/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounds for the time at which subtick's BPF program stamped a tracepoint hit. The test opens
 * several perf events on the same tracepoint before subtick attaches its BPF program, so all perf
 * events stamp each hit first. The BPF program takes its stamp after the last perf stamp. The delay
 * between the two stamps is at most the time of one more perf event plus @own_ns of event_stamps().
 */
#ifndef SUBTICK_TESTS_TRUTH_EVENT_STAMPS_H
#define SUBTICK_TESTS_TRUTH_EVENT_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "witness.h"

/*
 * Number of perf events to open on one tracepoint. The list of event names must contain the
 * tracepoint's name EVENT_STAMP_TIMES times.
 */
#define EVENT_STAMP_TIMES 4

struct event_stamp {
	const char *name; /* event name, a pointer into struct witness */
	unsigned int cpu;
	uint64_t first_ns;	  /* stamp of the first perf event */
	uint64_t low_ns, high_ns; /* bounds of the BPF program's stamp */
	/*
	 * Upper bound of the BPF program's stamp if the guest has two processors: the time of the
	 * next event on the same CPU. QEMU may run the other processor before subtick's BPF program
	 * takes its stamp.
	 */
	uint64_t next_ns;
	const struct witness_hit *hit;
};

/*
 * Returns the number of tracepoint hits in @ret_stamps, sorted by time. If a tracepoint has only
 * one perf event, the lower and the upper bound of a hit are equal. @own_ns is the time from the
 * call of subtick's BPF program to its stamp.
 */
size_t event_stamps(const struct witness *w, uint64_t own_ns, struct event_stamp **ret_stamps);

/* True if @stamp is an idle exit (@exit is true) or an idle entry (@exit is false). */
bool event_stamp_idle(const struct witness *w, const struct event_stamp *stamp, bool exit);

#endif
