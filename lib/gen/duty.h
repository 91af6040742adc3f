/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A load of known size: burns a share of every period on one core and records what it used. */
#ifndef SUBTICK_GEN_DUTY_H
#define SUBTICK_GEN_DUTY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gen/child.h"

/* What the task waits for between two burns. */
enum duty_wait {
	DUTY_TIMER,
	DUTY_READ,    /* reads that bypass the page cache: the kernel counts the wait as iowait */
	DUTY_MESSAGE, /* a message of a task on another core, which computes meanwhile */
};

struct duty_opts {
	int cpu;
	int nice; /* nice value of the task */
	enum duty_wait wait;
	int peer_cpu; /* core of the other task of DUTY_MESSAGE */
	double duty; /* 0…1 */
	uint64_t period_ns;
	/*
	 * Locked: each burn begins @phase_ns after a multiple of the period on CLOCK_MONOTONIC, so
	 * that with a period of whole ticks it keeps its phase relative to the tick. Otherwise each
	 * burn begins at a random time within its period.
	 */
	bool locked;
	uint64_t phase_ns;
	bool log; /* keep the stamps of the last DUTY_SLEEPS sleeps */
};

/*
 * What the generator used, cumulative, by its own stamps. The core was certainly busy for burn_ns.
 * It was not idle during the whole sleep: entering and leaving the kernel's idle state takes time
 * on both sides.
 */
struct duty_usage {
	uint64_t at_ns; /* CLOCK_MONOTONIC of these figures */
	uint64_t burn_ns;
	uint64_t cpu_ns; /* CLOCK_THREAD_CPUTIME_ID */
	uint64_t wait_ns; /* blocked in DUTY_READ or DUTY_MESSAGE: wall time − CPU time */
	uint64_t cycles;
};

#define DUTY_SLEEPS 32768

/* One sleep: the call, its deadline, and the first stamp after it. due_ns 0: no sleep. */
struct duty_sleep {
	uint64_t call_ns, due_ns, woke_ns;
};

/* err->unsupported: reads wait for no device here. */
int duty_start(struct gen_child *duty, const struct duty_opts *opts, struct err *err);
/* What it used up to the end of its last burn; false if the generator is not running yet. */
bool duty_read(const struct gen_child *duty, struct duty_usage *ret_usage);
/* The sleep before burn number @cycle, as counted by duty_usage.cycles; only with opts->log. */
struct duty_sleep duty_sleep(const struct gen_child *duty, uint64_t cycle);

#endif
