/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the per-CPU counters (slots) of `subtick load` while BPF programs update them. */
#ifndef SUBTICK_MEASURE_LOAD_SLOT_H
#define SUBTICK_MEASURE_LOAD_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/load.h"
#include "stats/load.h"

/*
 * Reads a sample that ends at @now_ns or at the slot's last event, whichever is later. @now_ns and
 * all times in the slot are ns since the start of the measurement. @seed_ctx is the context (enum
 * load_ctx) of a CPU without events since the start. Returns false if the slot changed during every
 * attempt to read the slot.
 */
bool load_slot_read(const struct load_slot *slot, uint64_t now_ns, uint32_t seed_ctx,
		    struct load_sample *ret_sample);

void load_slot_vecs(const struct load_slot *slot, struct load_vecs *ret_vecs);

/* The last counter value that the programs stored. */
struct load_stored {
	uint64_t cycles;
	uint64_t stored_ns;
	/*
	 * time until which the counter kept the value `cycles`: the current time if the CPU has
	 * been halted since stored_ns, else stored_ns
	 */
	uint64_t holds_ns;
};

/*
 * Reads the last counter value that the BPF programs stored in @slot. Returns false if no value was
 * stored, or if the slot changed during every attempt to read the slot.
 */
bool load_slot_pmu(const struct load_slot *slot, uint64_t now_ns, struct load_stored *ret_stored);

/*
 * Reads the busy times of two siblings at the same time. @start_ns is CLOCK_MONOTONIC at the start
 * of the measurement.
 */
void load_smt_read(const struct load_smt *a, const struct load_smt *b, uint64_t start_ns,
		   struct load_smt_sample *ret_sample);

#endif
