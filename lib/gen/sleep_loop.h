/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A loop of sleeps: the same work in each turn, to see how the kernel accounts it. */
#ifndef SUBTICK_GEN_SLEEP_LOOP_H
#define SUBTICK_GEN_SLEEP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gen/child.h"

struct sleep_loop_opts {
	int cpu;
	uint64_t delay_ns;   /* 0: a call that fails at once, so the work without the sleep */
	uint64_t iterations; /* 0: as many as fit into @length_ns */
	uint64_t length_ns;
	uint64_t slack_ns; /* timer slack of the process; 0: 1 ns, the least there is */
};

/* By the child's own clocks at the start and the end of its loop. */
struct sleep_loop_result {
	uint64_t iterations;
	uint64_t real_ns;
	uint64_t user_ns; /* getrusage() */
	uint64_t system_ns;
	uint64_t thread_ns; /* CLOCK_THREAD_CPUTIME_ID */
	uint64_t slack_ns;  /* as the kernel has it: it ignores that of real-time tasks */
};

/* Starts the process; it sleeps until sleep_loop_go(). */
int sleep_loop_start(struct gen_child *loop, const struct sleep_loop_opts *opts, struct err *err);
void sleep_loop_go(struct gen_child *loop);
/* Ends the loop early, on Ctrl-C. */
void sleep_loop_halt(struct gen_child *loop);
/* True if the loop has ended and *@ret_result is set; the process then sleeps until stopped. */
bool sleep_loop_done(const struct gen_child *loop, struct sleep_loop_result *ret_result);

#endif
