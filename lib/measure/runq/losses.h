/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits that runq observed and lost, and their comparison with the kernel's run_delay. */
#ifndef SUBTICK_MEASURE_RUNQ_LOSSES_H
#define SUBTICK_MEASURE_RUNQ_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/losses.h"

/* Totals since the start, over all CPUs. */
struct runq_losses {
	RUNQ_LOSSES(LOSS_MEMBER)
	uint64_t waits; /* observed waits, without waits on the programs' fast path */
	/* Time of the last comparison with the kernel, CLOCK_MONOTONIC, and the sums at that time. */
	uint64_t compared_ns;
	uint64_t wait_ns;    /* all observed waits */
	int64_t unbooked_ns; /* part of wait_ns that the kernel omits from run_delay */
	uint64_t delay_ns;   /* the kernel's run_delay of all tasks; 0 if it keeps none */
};

/*
 * Between two readings: the part of the observed waits that the kernel accounts ÷ its run_delay of
 * all tasks. NAN if the kernel keeps none.
 */
double runq_schedstat_ratio(const struct runq_losses *was, const struct runq_losses *now);
/*
 * True if a program that runs for long compares again: after twice the run time of the last
 * comparison, and every 10 s later. With thousands of tasks a comparison costs more than the rest of
 * a window. Times are CLOCK_MONOTONIC; @compared_ns is 0 before the first.
 */
bool runq_compare_due(uint64_t open_ns, uint64_t compared_ns, uint64_t now_ns);
/* The part that run_delay omits ÷ the observed waits. NAN without waits. */
double runq_unbooked_ratio(const struct runq_losses *was, const struct runq_losses *now);

#endif
