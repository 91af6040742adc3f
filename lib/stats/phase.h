/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where against the tick a periodic task is not seen: the arithmetic of the search. */
#ifndef SUBTICK_STATS_PHASE_H
#define SUBTICK_STATS_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct phase_probe {
	uint64_t phase_ns;
	double true_ratio;
	double shown_ratio;
	bool valid; /* was measured */
};

/* Spreads the probes evenly over the period. */
void phase_plan(struct phase_probe *probes, size_t nr, uint64_t period_ns);

/*
 * The middle of the longest run of probes, around the circle, of which at most @hidden of the true
 * load is shown: the place with the most room for a late wake-up on either side. False when no
 * probe is hidden.
 */
bool phase_hidden(const struct phase_probe *probes, size_t nr, uint64_t period_ns, double hidden,
		  uint64_t *ret_phase_ns);
/* The middle of the longest run that shows more than the truth. False when none does. */
bool phase_exposed(const struct phase_probe *probes, size_t nr, uint64_t period_ns,
		   uint64_t *ret_phase_ns);

#endif
