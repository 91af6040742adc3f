/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What runq saw and missed, and how that compares with the kernel's run_delay. */
#ifndef SUBTICK_MEASURE_RUNQ_LOSSES_H
#define SUBTICK_MEASURE_RUNQ_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

/* Totals since the start, over all CPUs. */
struct runq_losses {
	uint64_t unknown_start, negative, table_full, events_lost, blame_full, recursion_misses;
	uint64_t path_cut; /* groups whose path lacks its beginning */
	uint64_t waits;	  /* observed, without those of the programs' quick path */
	/* The comparison with the kernel: when it was made, by CLOCK_MONOTONIC, and the sums then. */
	uint64_t compared_ns;
	uint64_t wait_ns; /* of all that were observed */
	int64_t unbooked_ns;	 /* of wait_ns, what the kernel does not add to run_delay */
	uint64_t delay_ns;	 /* the kernel's run_delay of all tasks; 0 if it keeps none */
};

/*
 * Between two readings: the part of the observed waits that the kernel accounts ÷ its run_delay of
 * all tasks. NAN if the kernel keeps none.
 */
double runq_schedstat_ratio(const struct runq_losses *was, const struct runq_losses *now);
/*
 * Whether it is time for a program that runs for long to compare again: when it has run twice as long
 * as at the last time, and then every 10 s. With thousands of tasks a comparison costs more than all
 * else in a window. Times are CLOCK_MONOTONIC; @compared_ns is 0 before the first.
 */
bool runq_compare_due(uint64_t open_ns, uint64_t compared_ns, uint64_t now_ns);
/* The part that run_delay omits ÷ the observed waits. NAN without waits. */
double runq_unbooked_ratio(const struct runq_losses *was, const struct runq_losses *now);

#endif
