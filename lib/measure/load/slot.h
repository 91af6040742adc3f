/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads one CPU's slot of the mapped array while that CPU goes on writing it. */
#ifndef SUBTICK_MEASURE_LOAD_SLOT_H
#define SUBTICK_MEASURE_LOAD_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/load.h"
#include "stats/load.h"

/*
 * @now_ns and the sample's stamp are ns since the programs' start. @seed_ctx is the context of a
 * CPU without any event. The sample ends at the later of @now_ns and the slot's
 * own last edge, so numerator and denominator always cover the same time.
 * Returns false, and leaves the sample alone, if the slot changed under every attempt to read it.
 */
bool load_slot_read(const struct load_slot *slot, uint64_t now_ns, uint32_t seed_ctx,
		    struct load_sample *ret_sample);

void load_slot_vecs(const struct load_slot *slot, struct load_vecs *ret_vecs);

/* The last counter value that the core itself stored, of one look: its parts belong together. */
struct load_stored {
	uint64_t cycles;
	uint64_t stored_ns;
	uint64_t holds_ns; /* now, if it halted then: its counter stands still */
};

/* False if torn or never stored. */
bool load_slot_pmu(const struct load_slot *slot, uint64_t now_ns, struct load_stored *ret_stored);

/* Two siblings at one moment. @start_ns: CLOCK_MONOTONIC at the start of the programs. */
void load_smt_read(const struct load_smt *a, const struct load_smt *b, uint64_t start_ns,
		   struct load_smt_sample *ret_sample);

#endif
