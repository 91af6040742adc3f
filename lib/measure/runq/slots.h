/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slots of runq: laid in ahead of need, read, and taken back when their group has ended. */
#ifndef SUBTICK_MEASURE_RUNQ_SLOTS_H
#define SUBTICK_MEASURE_RUNQ_SLOTS_H

#include "measure/runq/waits.h"

struct runq_owner;

struct runq_slots {
	enum runq_per per;
	unsigned int stripes, cpus;
	bool fixed, opened; /* no more chunks after the start */
	size_t slot_size;
	int chunks_fd, free_fd, index_fd;
	struct runq_cpu *cpu; /* mapped; their caches are cleared of what ended */

	char *chunk[RUNQ_NR_CHUNKS];
	unsigned int nr_chunks;
	struct runq_owner *owners[RUNQ_NR_SLOTS];
	size_t nr_free; /* in the queue, as far as known */
	uint64_t scan_ns;

	struct runq_waits_list ended; /* since the last window */
	struct runq_waits_list waits; /* of the last window */
	struct runq_group **names;    /* owners and groups of the last window, by key */
	size_t nr_names;
	uint64_t *retired; /* keys that the blame table may forget */
	size_t nr_retired;
};

/* How many stripes for so many CPUs: one each up to RUNQ_MAX_STRIPES, a power of two. */
unsigned int runq_stripes(unsigned int cpus);
/* A chunk as a map, for libbpf to know the type before anything is loaded. */
int runq_chunk_create(unsigned int stripes, unsigned int cpus, struct err *err);

/* @first_fd is the map of the first chunk. The descriptors stay the caller's. */
int runq_slots_open(struct runq_slots *slots, int first_fd, size_t nr_groups, struct err *err);
void runq_slots_close(struct runq_slots *slots);
/* @taken: slots that went out since the last call. */
int runq_slots_refill(struct runq_slots *slots, size_t taken, struct err *err);
/* Finds new owners, takes back what has ended. Does nothing if it did so a moment ago. */
int runq_slots_scan(struct runq_slots *slots, bool now, struct err *err);
int runq_slots_window(struct runq_slots *slots, struct err *err);
/* Groups of the last window stay until the next, others until the next scan; NULL if unknown. */
const struct runq_group *runq_slots_find(const struct runq_slots *slots, uint64_t key);

#endif
