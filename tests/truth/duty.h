/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A periodic load for virtual time. The load keeps a core busy by executing a known number of
 * instructions, and reads no clock while busy.
 */
#ifndef SUBTICK_TESTS_TRUTH_DUTY_H
#define SUBTICK_TESTS_TRUTH_DUTY_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/loads.h"

struct truth_duty_opts {
	int cpu;
	double duty;
	uint64_t period_ns;
	/*
	 * If true, busy intervals begin at multiples of the period, and therefore at the tick. If
	 * false, each busy interval begins at a random time in its period.
	 */
	bool locked;
	uint64_t phase_ns;
};

/* Results of the load, in a memory page that only the load process writes. */
struct truth_duty {
	uint64_t cycles;
	uint64_t cpu_ns; /* thread clock of the load process after its last busy interval */
};

/* Starts the load. Fails the test program if the load cannot start. */
const struct truth_duty *truth_duty_start(const struct truth_duty_opts *opts,
					  struct gen_child *ret_child);

#endif
