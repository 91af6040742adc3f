/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the interrupt and softirq counts of the kernel with the counts of `subtick noise`. */
#ifndef SUBTICK_TESTS_LIVE_INTERRUPTS_H
#define SUBTICK_TESTS_LIVE_INTERRUPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/noise/window.h"

#define INTERRUPTS_ROWS 512
#define INTERRUPTS_CPUS 64

struct interrupts {
	/* Sums of all interrupts and of all softirqs that the kernel counted on all CPUs. */
	uint64_t hardirqs, softirqs;
	size_t nr_cpus, nr;
	struct {
		/* Label of the row, such as "11" or "IPI0", and the text after the counts. */
		char label[16], what[128];
		uint64_t count[INTERRUPTS_CPUS];
	} row[INTERRUPTS_ROWS];
};

/* Reads /proc/interrupts and /proc/softirqs. Ends the test program with a failure on an error. */
void interrupts_read(struct interrupts *ret);

/* Snapshots of the kernel's counts just before and just after the begin and the end of a window. */
struct interrupts_around {
	struct interrupts before_begin, after_begin, before_end, after_end;
};

/*
 * Returns the largest allowed difference between two tables of `subtick noise`: interrupts between
 * the reads of the two tables, and at each end of the window one interrupt in progress per core.
 */
uint64_t interrupts_between_tables(const struct interrupts_around *around, bool softirqs);

/*
 * Result of the comparison between `subtick noise` and the kernel, for the interrupt lines and
 * vectors of a core.
 */
struct interrupts_compared {
	/*
	 * lines: number of changed rows of /proc/interrupts; exact: number of these rows with an
	 * exactly known count
	 */
	unsigned int lines, exact;
	/*
	 * less: first row with a too low count in `subtick noise`, or ""; more: first row with a
	 * too high count, or ""
	 */
	char less[160], more[160];
};

/*
 * Compares every interrupt line and vector of @cpu whose counter the kernel increments at the
 * tracepoint. The count of `subtick noise` must lie between the lowest and the highest number of
 * interrupts in the window by the kernel's counters.
 */
void interrupts_compare(const struct interrupts_around *around, const struct noise_window *w,
			unsigned int cpu, struct interrupts_compared *ret);

#endif
