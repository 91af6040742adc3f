/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads records from the ring of a core while the core may write new records. */
#ifndef SUBTICK_MEASURE_TRACE_RING_H
#define SUBTICK_MEASURE_TRACE_RING_H

#include <stdint.h>

#include "stats/trace.h"

struct trace_reader {
	const struct trace_ring *ring;
	uint64_t mask;	      /* number of records of the ring, minus 1 */
	/* start of the recording, CLOCK_MONOTONIC; older records are dropped */
	uint64_t start_ns;
	uint64_t next;	      /* number of the next record to read */
	/* write position at the previous read; all records before it are complete */
	uint64_t seen_head;
	/* maximum number of records to keep; later records are counted as lost */
	uint64_t max_edges;
	uint64_t lost;	      /* number of records that were overwritten or not kept */
	/* true if the oldest records of the ring were overwritten before they were read */
	bool cut;
	struct trace_core core;
};

/*
 * Reads the records that were written before the previous call. Set @last only after the core has
 * stopped writing: all records are read, and the nested records are inserted. Returns 0 or -ENOMEM.
 */
int trace_ring_take(struct trace_reader *reader, bool last);

/*
 * Computes the time range of the core's trace, the first running task of the core, and the running
 * task at each wake-up. The time range ends at @to_ns or at the last record, whichever is later.
 * Must be called after the last read of the ring.
 */
void trace_ring_finish(struct trace_reader *reader, uint64_t to_ns);

void trace_ring_free(struct trace_reader *reader);

#endif
