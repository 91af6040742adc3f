/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes the edges out of the ring of a core, also while that core goes on writing. */
#ifndef SUBTICK_MEASURE_TRACE_RING_H
#define SUBTICK_MEASURE_TRACE_RING_H

#include <stdint.h>

#include "stats/trace.h"

struct trace_reader {
	const struct trace_ring *ring;
	uint64_t mask;	      /* edges of the ring less one */
	uint64_t start_ns;    /* CLOCK_MONOTONIC; what is older does not count */
	uint64_t next;	      /* the first that was not taken yet */
	uint64_t seen_head;   /* at the last look: what is before it is surely written */
	uint64_t max_edges;   /* to keep; what comes later is lost */
	uint64_t lost;	      /* edges that were overwritten or not kept */
	bool cut;	      /* the beginning was overwritten */
	struct trace_core core;
};

/*
 * Takes what was written before the last call. @last: the core writes no more; takes all, and puts the
 * nested edges in their places. Returns 0 or -ENOMEM.
 */
int trace_ring_take(struct trace_reader *reader, bool last);

/*
 * After the last: the time that the edges cover, up to @to_ns, what the core did first, and who was current
 * at its wake-ups.
 */
void trace_ring_finish(struct trace_reader *reader, uint64_t to_ns);

void trace_ring_free(struct trace_reader *reader);

#endif
