/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The search for the phase of the tick at which a periodic task does not show in /proc/stat. */
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
 * The tick finds every burn of a phase or none. What shows more than @hidden of the true load and
 * less than most of it is the edge between both, or was something else: not measured, or not clear.
 */
bool phase_doubtful(const struct phase_probe *probe, double hidden);

/*
 * The middle of the longest run of probes, around the circle, that show at most @hidden of the true
 * load. The middle leaves the most room for late wake-ups. False if no probe is hidden.
 */
bool phase_hidden(const struct phase_probe *probes, size_t nr, uint64_t period_ns, double hidden,
		  uint64_t *ret_phase_ns);
/* The middle of the longest run of probes that show more than the true load; false if none does. */
bool phase_exposed(const struct phase_probe *probes, size_t nr, uint64_t period_ns,
		   uint64_t *ret_phase_ns);

#endif
