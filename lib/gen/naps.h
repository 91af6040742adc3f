/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same work again and again with a delay between: what accounting makes of it. */
#ifndef SUBTICK_GEN_NAPS_H
#define SUBTICK_GEN_NAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gen/child.h"

struct naps_opts {
	int cpu;
	uint64_t delay_ns;   /* 0: a call that fails at once, all the work but the sleep */
	uint64_t iterations; /* 0: as many as fit into @length_ns */
	uint64_t length_ns;
};

/* From the child's own clocks at both ends of its loop. */
struct naps_result {
	uint64_t iterations;
	uint64_t real_ns;
	uint64_t user_ns; /* getrusage() */
	uint64_t system_ns;
	uint64_t thread_ns; /* CLOCK_THREAD_CPUTIME_ID */
};

struct naps {
	struct gen_child child;
};

/* Starts the process, which then sleeps until naps_go(). */
int naps_start(struct naps *naps, const struct naps_opts *opts, struct err *err);
void naps_go(struct naps *naps);
/* Ends a loop early: Ctrl-C prints what there is. */
void naps_halt(struct naps *naps);
/* True when the loop has ended and the figures are there; the process sleeps until stopped. */
bool naps_done(const struct naps *naps, struct naps_result *ret_result);
void naps_stop(struct naps *naps);

#endif
