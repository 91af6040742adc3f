/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of runq's slots: BPF maps of RUNQ_CHUNK slots each, created ahead of need. */
#ifndef SUBTICK_MEASURE_RUNQ_CHUNKS_H
#define SUBTICK_MEASURE_RUNQ_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runq.h"
#include "base/err.h"
#include "stats/runq.h"

struct runq_chunks {
	/* Set before runq_chunks_open(). */
	struct runq_shape shape;
	bool fixed;		/* no more chunks after the start */
	int chunks_fd, free_fd; /* the programs' maps: chunks after the first, free slots */

	size_t slot_size;
	unsigned int near; /* slots in the first chunk */
	char *mapped[RUNQ_NR_CHUNKS];
	unsigned int nr;
	size_t nr_free; /* slots in the queue of free slots, by the last count */
};

/* Histograms per slot: one per CPU, rounded up to a power of two, at most RUNQ_MAX_STRIPES. */
unsigned int runq_stripes(unsigned int cpus);
/* Where the cells of a slot begin, and its size. */
size_t runq_cells_at(const struct runq_shape *shape);
size_t runq_slot_size(const struct runq_shape *shape);
/* Slots of the first chunk, which is memory at a fixed address, of RUNQ_NEAR_BYTES. */
unsigned int runq_near_slots(const struct runq_shape *shape);
/*
 * Slots for @nr_groups in whole chunks, with spare slots. @fixed: no chunk is added later, and
 * @nr_groups already includes the spare slots.
 */
size_t runq_slots_for(const struct runq_shape *shape, size_t nr_groups, bool fixed);

/* Sizes of the other maps depend on this. */
struct runq_sizes {
	size_t nr_slots; /* in all chunks */
	bool fixed;	 /* no chunk is added later */
	bool blame;
	bool wakeup; /* source wakeup */
};

/* Kernel memory of all maps of bpf/runq_maps.bpf.h; docs/methods/runq.md states the formula. */
uint64_t runq_memory(const struct runq_shape *shape, const struct runq_sizes *sizes);

/* Descriptor of a new array that user space can map, or -errno. */
int runq_map_create(const char *name, size_t bytes, unsigned int entries);
/* A map for one chunk after the first: its descriptor, or -errno. */
int runq_chunk_create(const struct runq_shape *shape, struct err *err);

/* Room for @nr_groups and some more. @near is the mapped memory of the first chunk. */
int runq_chunks_open(struct runq_chunks *chunks, void *near, size_t nr_groups, struct err *err);
void runq_chunks_close(struct runq_chunks *chunks);

/* Slots in all chunks, used or not. */
size_t runq_chunks_slots(const struct runq_chunks *chunks);
struct runq_head *runq_chunks_slot(const struct runq_chunks *chunks, size_t slot);
/* Slot at a place of the programs, see RUNQ_FAR; at least runq_chunks_slots() without a slot. */
size_t runq_chunks_at(const struct runq_chunks *chunks, uint32_t place);
/* Key of the task that ran, as in struct runq_seg, or of the group at a place. */
uint64_t runq_chunks_key(const struct runq_chunks *chunks, uint32_t who);
/* Puts a slot back into the queue of free slots. */
int runq_chunks_free_slot(struct runq_chunks *chunks, uint32_t slot, struct err *err);
/* Adds chunks if too few slots are free after @taken more were taken. */
int runq_chunks_refill(struct runq_chunks *chunks, size_t taken, struct err *err);
/* Sets the number of slots in use, then refills. */
int runq_chunks_recount(struct runq_chunks *chunks, size_t used, struct err *err);

#endif
