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
	bool log; /* keep the stamps of the last DUTY_NAPS sleeps */
};

/*
 * What the generator knows of itself, cumulative, from its own stamps. The core was surely busy
 * for burn_ns. It was not idle all the time that it slept: from the call to sleep the core has to
 * go through the kernel until it halts, and from the deadline on back.
 */
struct duty_books {
	uint64_t at_ns; /* CLOCK_MONOTONIC of these figures */
	uint64_t burn_ns;
	uint64_t cpu_ns; /* CLOCK_THREAD_CPUTIME_ID */
	uint64_t cycles;
};

#define DUTY_NAPS 32768

/* One sleep: the call, when it was to end, and the first stamp after it. due_ns 0: no sleep. */
struct duty_nap {
	uint64_t call_ns, due_ns, woke_ns;
};

struct duty {
	struct gen_child child;
};

int duty_start(struct duty *duty, const struct duty_opts *opts, struct err *err);
/* What it used up to the end of its last burn; false if the generator is not running yet. */
bool duty_read(const struct duty *duty, struct duty_books *ret_books);
/* The sleep before the burn with that number, of which books->cycles counts; only with opts->log. */
struct duty_nap duty_nap(const struct duty *duty, uint64_t cycle);
void duty_stop(struct duty *duty);

#endif
