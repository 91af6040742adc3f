/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of the tests that compare noise with the tracers osnoise and timerlat. */
#ifndef SUBTICK_TESTS_LIVE_OSNOISE_H
#define SUBTICK_TESTS_LIVE_OSNOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "measure/noise/window.h"

/* Where tracefs is. Skips the program where the kernel lacks one of the tracers. */
void osnoise_needed(char *root, size_t size);

/* Thread id of tracer @tool on @cpu, or 0. */
pid_t osnoise_thread(const char *tool, int cpu);

/* The tracer's thread as /proc shows it. */
struct osnoise_look {
	char state;
	uint64_t ticks; /* CPU time, each 10 ms */
};

/* Minimum CPU time of an osnoise thread that takes samples: it spins. */
#define OSNOISE_SPINS 10

/* Returns false if the thread has ended. */
bool osnoise_look(pid_t pid, struct osnoise_look *ret_look);

/*
 * Events that noise counted on @cpu: kinds @first to @last, and only of name @name unless it is
 * NULL.
 */
uint64_t osnoise_counted(const struct noise_window *w, uint32_t cpu, enum noise_kind first,
			 enum noise_kind last, const char *name);

#endif
