/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds up the maps of bpf/runq_maps.bpf.h; docs/methods/runq.md states the formula. */
#include "measure/runq/memory.h"

#define HASH_ELEM_BYTES 64 /* of the kernel, beside key and value: the element and its bucket */
#define RING_BYTES	(256 * 1024)

static uint64_t hash(uint64_t entries, size_t key, size_t value)
{
	/* The kernel rounds the sizes of both up to words. */
	return entries * (HASH_ELEM_BYTES + (key + 7) / 8 * 8 + (value + 7) / 8 * 8);
}

uint64_t runq_memory(const struct runq_shape *shape, const struct runq_sizes *sizes)
{
	size_t groups = sizes->fixed ? sizes->nr_slots : RUNQ_NR_SLOTS;
	size_t pairs = sizes->blame ? RUNQ_NR_BLAME : 1;
	uint64_t tables = hash(groups, sizeof(uint64_t), sizeof(uint32_t)) +
			  hash(pairs, sizeof(struct runq_pair), sizeof(uint32_t)) +
			  pairs * (sizeof(uint32_t) + sizeof(struct runq_row)) +
			  groups * sizeof(uint32_t) + RUNQ_NR_CHUNKS * sizeof(void *) + RING_BYTES;
	uint64_t tasks = RUNQ_NR_TASKS * sizeof(struct runq_task) +
			 (sizes->wakeup ? RUNQ_NR_TASKS : 1) * sizeof(uint64_t) +
			 RUNQ_NR_EXITS * sizeof(uint64_t);
	uint64_t cores = shape->cpus * sizeof(struct runq_cpu) +
			 RUNQ_MAX_CPUS * sizeof(struct runq_core) +
			 (sizes->blame ? shape->cpus * (RUNQ_PAIRS_BYTES + sizeof(uint32_t)) : 0);

	return RUNQ_NEAR_BYTES +
	       (sizes->nr_slots - runq_near_slots(shape)) * runq_slot_size(shape) + tables + tasks +
	       cores;
}
