/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests beside the kernel's tracers osnoise and timerlat share. */
#ifndef SUBTICK_TESTS_LIVE_OSNOISE_H
#define SUBTICK_TESTS_LIVE_OSNOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "measure/noise/window.h"

/* Where tracefs is. Skips the program where the kernel lacks one of the tracers. */
void osnoise_needed(char *root, size_t size);

/* The thread of tracer @tool on @cpu; 0: there is none. */
pid_t osnoise_thread(const char *tool, int cpu);

/* It, as /proc shows it. */
struct osnoise_look {
	char state;
	uint64_t ticks; /* CPU time, each 10 ms */
};

/* So much CPU time has only a thread of osnoise that takes a sample: it spins. */
#define OSNOISE_SPINS 10

/* False if it has ended. */
bool osnoise_look(pid_t pid, struct osnoise_look *ret_look);

/* What noise counted on @cpu: sources of kinds @first to @last, of one name unless it is NULL. */
uint64_t osnoise_counted(const struct noise_window *w, uint32_t cpu, enum noise_kind first,
			 enum noise_kind last, const char *name);

#endif
