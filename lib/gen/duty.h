/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A load of known size: burns a share of every period on one core and records what it used. */
#ifndef SUBTICK_GEN_DUTY_H
#define SUBTICK_GEN_DUTY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gen/child.h"

struct duty_opts {
	int cpu;
	double duty; /* 0…1 */
	uint64_t period_ns;
	/*
	 * Locked: each burn begins @phase_ns after a multiple of the period on CLOCK_MONOTONIC, so
	 * that with a period of whole ticks it keeps its phase relative to the tick. Otherwise each
	 * burn begins at a random time within its period.
	 */
	bool locked;
	uint64_t phase_ns;
};

/*
 * What the generator used, cumulative, by its own stamps. It certainly ran for burn_ns, and
 * certainly did not run for asleep_ns (from the call to sleep up to the deadline). The rest is the
 * way into and out of the kernel, which its stamps do not cover.
 */
struct duty_books {
	uint64_t at_ns; /* CLOCK_MONOTONIC of these figures */
	uint64_t burn_ns;
	uint64_t asleep_ns;
	uint64_t cpu_ns; /* CLOCK_THREAD_CPUTIME_ID */
	uint64_t cycles;
};

struct duty {
	struct gen_child child;
};

int duty_start(struct duty *duty, const struct duty_opts *opts, struct err *err);
/* What it used up to the end of its last burn; false if the generator is not running yet. */
bool duty_read(const struct duty *duty, struct duty_books *ret_books);
void duty_stop(struct duty *duty);

#endif
