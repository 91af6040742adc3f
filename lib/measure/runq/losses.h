/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What runq saw and missed, and how that compares with the kernel's own books. */
#ifndef SUBTICK_MEASURE_RUNQ_LOSSES_H
#define SUBTICK_MEASURE_RUNQ_LOSSES_H

#include <stdint.h>

/* Sums since the start, over all CPUs. */
struct runq_losses {
	uint64_t unknown_start, negative, table_full, events_lost, blame_full, recursion_misses;
	uint64_t waits, wait_ns; /* seen, sampled or not */
	int64_t unbooked_ns;	 /* of wait_ns, what the kernel does not book as run delay */
	uint64_t delay_ns;	 /* what the kernel booked as run delay, 0 if not to be had */
};

/*
 * Of what was waited between the two, the part that the kernel books, over what it did book. NAN if
 * that is unknown.
 */
double runq_schedstat_ratio(const struct runq_losses *was, const struct runq_losses *now);
/* And the part that it does not book, over all. NAN without waits. */
double runq_unbooked_ratio(const struct runq_losses *was, const struct runq_losses *now);

#endif
