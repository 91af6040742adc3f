/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's own count of interrupts: /proc/interrupts, beside what noise counted. */
#ifndef SUBTICK_TESTS_LIVE_INTERRUPTS_H
#define SUBTICK_TESTS_LIVE_INTERRUPTS_H

#include <stddef.h>

#include "measure/noise/window.h"

#define INTERRUPTS_ROWS 512
#define INTERRUPTS_CPUS 64

struct interrupts {
	size_t nr_cpus, nr;
	struct {
		char label[16], what[128]; /* "11" or "IPI0", and what follows the counts */
		uint64_t count[INTERRUPTS_CPUS];
	} row[INTERRUPTS_ROWS];
};

/* One reading; fails the program. */
void interrupts_read(struct interrupts *ret);

/* Readings right before and after both ends of a window. */
struct interrupts_around {
	struct interrupts before_begin, after_begin, before_end, after_end;
};

/*
 * Compares every line and vector of @cpu that the kernel counts as events do: a TAP line each for
 * those that moved. What came in the window is between what came surely and what came perhaps.
 * Returns how many were judged and known exactly.
 */
unsigned int interrupts_judge(const struct interrupts_around *around, const struct noise_window *w,
			      unsigned int cpu);

#endif
