/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's counts of interrupts and softirqs, compared with the counts of noise. */
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
		char label[16], what[128]; /* "11" or "IPI0", and the text after the counts */
		uint64_t count[INTERRUPTS_CPUS];
	} row[INTERRUPTS_ROWS];
};

/* Reads both files; fails the program on an error. */
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
	unsigned int lines, exact; /* lines that changed, and changed lines whose count is exact */
	char less[160], more[160]; /* first line that noise counted too low or too high, or "" */
};

/*
 * Compares every interrupt line and vector of @cpu whose counter the kernel increments at the
 * tracepoint. The count of noise must lie between the certain and the possible number of events in
 * the window.
 */
void interrupts_compare(const struct interrupts_around *around, const struct noise_window *w,
			unsigned int cpu, struct interrupts_compared *ret);

#endif
