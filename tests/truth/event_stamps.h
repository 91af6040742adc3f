/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounds for the time at which subtick's BPF program stamped a tracepoint hit. The test opens
 * several perf events on the same tracepoint before subtick attaches its BPF program, so all perf
 * events stamp each hit first. The BPF program's stamp follows the last perf stamp by at most the
 * time between two perf stamps plus the parameter @own_ns of event_stamps().
 */
#ifndef SUBTICK_TESTS_TRUTH_EVENT_STAMPS_H
#define SUBTICK_TESTS_TRUTH_EVENT_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "witness.h"

/*
 * Returns the event names for witness_begin(): four times each tracepoint of @stamped that the
 * kernel has, then the events of @once. Both lists end with NULL. The result is valid until the
 * next call.
 */
const char *const *event_stamps_names(const char *const *stamped, const char *const *once);

struct event_stamp {
	const char *name; /* event name, a pointer into struct witness */
	unsigned int cpu;
	uint64_t first_ns;	  /* timestamp of the first perf event at this hit */
	uint64_t low_ns, high_ns; /* bounds of the BPF program's timestamp */
	/*
	 * Upper bound of the BPF program's stamp if the guest has two processors: the time of the
	 * next event on the same CPU. QEMU may run the other processor before subtick's BPF program
	 * takes its stamp.
	 */
	uint64_t next_ns;
	const struct witness_hit *hit;
};

/*
 * Stores one struct event_stamp per tracepoint hit in @ret_stamps, sorted by time, and returns the
 * number of hits. @own_ns is the time from the call of subtick's BPF program to its timestamp. If a
 * tracepoint has only one perf event, low_ns and high_ns of its hits are equal.
 */
size_t event_stamps(const struct witness *w, uint64_t own_ns, struct event_stamp **ret_stamps);

/* True if @stamp is an idle exit (@exit is true) or an idle entry (@exit is false). */
bool event_stamp_idle(const struct witness *w, const struct event_stamp *stamp, bool exit);

#endif
