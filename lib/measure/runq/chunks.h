/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of slots. A slot has the counters of one group (abi/runq.h). A chunk is a BPF map with
 * RUNQ_CHUNK slots. A new chunk is created before all slots are used.
 */
#ifndef SUBTICK_MEASURE_RUNQ_CHUNKS_H
#define SUBTICK_MEASURE_RUNQ_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runq.h"
#include "base/err.h"
#include "stats/runq.h"

struct runq_chunks {
	/* The caller sets the next members before runq_chunks_open(). */
	struct runq_shape shape;
	bool fixed;		/* true if no chunks are added after the start */
	int chunks_fd, free_fd; /* BPF maps: later chunks, and queue of free slots */

	size_t slot_size;
	unsigned int first_slots; /* number of slots in the first chunk */
	char *mapped[RUNQ_NR_CHUNKS];
	unsigned int nr;
	size_t nr_free; /* number of free slots at the last count */
};

/*
 * Returns the number of histograms per slot: one per CPU, rounded up to a power of two, at most
 * RUNQ_MAX_STRIPES.
 */
unsigned int runq_stripes(unsigned int cpus);
/* Return the offset of the per-CPU cells in a slot, and the size of a slot. */
size_t runq_cells_at(const struct runq_shape *shape);
size_t runq_slot_size(const struct runq_shape *shape);
/* Number of slots in the first chunk, a memory area of RUNQ_FIRST_BYTES at a fixed address. */
unsigned int runq_first_slots(const struct runq_shape *shape);
/*
 * Returns the number of slots for @nr_groups groups, rounded up to whole chunks. Adds spare slots
 * unless @fixed is true.
 */
size_t runq_slots_for(const struct runq_shape *shape, size_t nr_groups, bool fixed);

/* Options that determine the memory of all BPF maps of runq. */
struct runq_sizes {
	size_t nr_slots; /* number of slots in all chunks */
	bool fixed;	 /* true if no chunks are added after the start */
	bool blame;
	bool wakeup;	/* true for source wakeup */
	bool throttles; /* true if each group is a task and waits are split by cause */
};

/* Kernel memory of all maps of bpf/runq_maps.bpf.h; docs/methods/runq.md states the formula. */
uint64_t runq_memory(const struct runq_shape *shape, const struct runq_sizes *sizes);

/* Creates a BPF array that user space can map. Returns the descriptor of the array or -errno. */
int runq_map_create(const char *name, size_t bytes, unsigned int entries);
/* Creates the BPF map of a chunk other than the first. Returns the descriptor or -errno. */
int runq_chunk_create(const struct runq_shape *shape, struct err *err);

/* Allocates slots for @nr_groups groups and spare slots. @first_chunk is the mapped first chunk. */
int runq_chunks_open(struct runq_chunks *chunks, void *first_chunk, size_t nr_groups,
		     struct err *err);
void runq_chunks_close(struct runq_chunks *chunks);

/* Returns the number of slots in all chunks, used or free. */
size_t runq_chunks_slots(const struct runq_chunks *chunks);
struct runq_head *runq_chunks_slot(const struct runq_chunks *chunks, size_t slot);
/*
 * Returns the number of the slot with the reference @slot_ref (RUNQ_LATER_CHUNK). If @slot_ref is
 * not valid, the result is at least runq_chunks_slots().
 */
size_t runq_chunks_at(const struct runq_chunks *chunks, uint32_t slot_ref);
/*
 * Returns the key of the group if @who is a slot reference, or a reserved key if @who is a value
 * RUNQ_WHO_*.
 */
uint64_t runq_chunks_key(const struct runq_chunks *chunks, uint32_t who);
/* Puts a slot back into the queue of free slots. */
int runq_chunks_free_slot(struct runq_chunks *chunks, uint32_t slot, struct err *err);
/*
 * Subtracts @taken slots, which new groups use, from the number of free slots. Adds chunks if too
 * few slots are free.
 */
int runq_chunks_refill(struct runq_chunks *chunks, size_t taken, struct err *err);
/* Sets the number of slots in use to @used, and adds chunks if too few slots are free. */
int runq_chunks_recount(struct runq_chunks *chunks, size_t used, struct err *err);

#endif
