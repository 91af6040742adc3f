/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the longest run of probes around the circle of phases. */
#include "stats/phase.h"

#define MOST 0.75

void phase_plan(struct phase_probe *probes, size_t nr, uint64_t period_ns)
{
	for (size_t i = 0; i < nr; i++)
		probes[i] = (struct phase_probe){.phase_ns = i * period_ns / nr};
}

static bool is_hidden(const struct phase_probe *probe, double hidden)
{
	return probe->valid && probe->shown_ratio <= hidden * probe->true_ratio;
}

bool phase_doubtful(const struct phase_probe *probe, double hidden)
{
	return !is_hidden(probe, hidden) &&
	       !(probe->valid && probe->shown_ratio >= MOST * probe->true_ratio);
}

/* Shown clearly more than the true load: a whole tick is charged for a part of one. */
static bool is_exposed(const struct phase_probe *probe, double factor)
{
	return probe->valid && probe->true_ratio > 0.0 &&
	       probe->shown_ratio >= factor * probe->true_ratio;
}

static bool longest_run(const struct phase_probe *probes, size_t nr, uint64_t period_ns,
			bool (*fits)(const struct phase_probe *, double), double limit,
			uint64_t *ret_phase_ns)
{
	size_t best = 0, best_first = 0;

	for (size_t first = 0; first < nr; first++) {
		size_t length = 0;

		while (length < nr && fits(&probes[(first + length) % nr], limit))
			length++;
		if (length > best) {
			best = length;
			best_first = first;
		}
	}
	if (!best)
		return false;
	/* In half steps: the middle of a run of two is between them. */
	*ret_phase_ns = (2 * best_first + best - 1) * period_ns / (2 * nr) % period_ns;
	return true;
}

bool phase_hidden(const struct phase_probe *probes, size_t nr, uint64_t period_ns, double hidden,
		  uint64_t *ret_phase_ns)
{
	return longest_run(probes, nr, period_ns, is_hidden, hidden, ret_phase_ns);
}

bool phase_exposed(const struct phase_probe *probes, size_t nr, uint64_t period_ns,
		   uint64_t *ret_phase_ns)
{
	return longest_run(probes, nr, period_ns, is_exposed, 1.2, ret_phase_ns);
}
