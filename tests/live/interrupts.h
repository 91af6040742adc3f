/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's own count of interrupts and softirqs, beside what noise counted. */
#ifndef SUBTICK_TESTS_LIVE_INTERRUPTS_H
#define SUBTICK_TESTS_LIVE_INTERRUPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/noise/window.h"

#define INTERRUPTS_ROWS 512
#define INTERRUPTS_CPUS 64

struct interrupts {
	/* Sums of all interrupts and softirqs that the kernel counts. */
	uint64_t hardirqs, softirqs;
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
 * Largest difference between two tables that noise reads one after the other: interrupts between
 * the readings, and one in progress per core.
 */
uint64_t interrupts_between_tables(const struct interrupts_around *around, bool softirqs);

/* Comparison of noise with the kernel, for the lines and vectors of a core. */
struct interrupts_compared {
	unsigned int lines, exact; /* lines that changed, and those of them with an exact count */
	char less[160], more[160]; /* the first with less, or more, than the kernel has; or "" */
};

/*
 * Compares every line and vector of @cpu that the kernel counts as events do: what came in the
 * window is between what came surely and what came perhaps.
 */
void interrupts_compare(const struct interrupts_around *around, const struct noise_window *w,
			unsigned int cpu, struct interrupts_compared *ret);

#endif
