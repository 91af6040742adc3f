/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums, differences and percentiles of waits that were counted at boundaries only. */
#include "stats/runq_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t used_bytes(const struct runq_step_totals *totals)
{
	return offsetof(struct runq_step_totals, count) + totals->nr * sizeof(uint64_t);
}

struct runq_step_totals *runq_steps_copy(const struct runq_step_totals *totals)
{
	struct runq_step_totals *copy = malloc(used_bytes(totals));

	return copy ? memcpy(copy, totals, used_bytes(totals)) : NULL;
}

void runq_steps_set(struct runq_step_totals *copy, const struct runq_step_totals *totals)
{
	memcpy(copy, totals, used_bytes(totals));
}

void runq_steps_sub(struct runq_step_totals *now, const struct runq_step_totals *was)
{
	if (!was)
		return;
	for (unsigned int i = 0; i < now->nr; i++)
		now->count[i] -= was->count[i];
	for (unsigned int i = 0; i < RUNQ_NR_CAUSES; i++)
		now->cause_ns[i] -= was->cause_ns[i];
}

void runq_steps_add(struct runq_step_totals *totals, const struct runq_step_totals *more)
{
	for (unsigned int i = 0; i < totals->nr; i++)
		totals->count[i] += more->count[i];
	for (unsigned int i = 0; i < RUNQ_NR_CAUSES; i++)
		totals->cause_ns[i] += more->cause_ns[i];
	if (more->max_ns > totals->max_ns)
		totals->max_ns = more->max_ns;
}

uint64_t runq_steps_count(const struct runq_step_totals *totals)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < totals->nr; i++)
		count += totals->count[i];
	return count;
}

uint64_t runq_steps_sum_ns(const struct runq_step_totals *totals)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RUNQ_NR_CAUSES; i++)
		sum += totals->cause_ns[i];
	return sum;
}

void runq_steps_le(const struct runq_step_totals *totals, unsigned int nr, uint64_t *ret_counts)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < nr; i++)
		ret_counts[i] = count += totals->count[i];
}

uint64_t runq_steps_max_ns(const struct runq_step_totals *totals, const uint64_t *le,
			   unsigned int nr)
{
	for (unsigned int i = nr + 1; i-- > 1;)
		if (totals->count[i])
			return totals->max_ns > le[i - 1] ? totals->max_ns : le[i - 1] + 1;
	return totals->max_ns;
}

double runq_steps_percentile(const struct runq_step_totals *totals, const uint64_t *le,
			     unsigned int nr, uint64_t count, uint64_t max_ns, double percent)
{
	double rank = (double)count * percent / 100.0, before = 0.0, max = (double)max_ns;

	for (unsigned int i = 0; i <= nr; i++) {
		double low = i ? (double)le[i - 1] : 0.0, in = (double)totals->count[i];
		double high = i < nr ? fmin((double)le[i], max) : max;

		if (in > 0.0 && rank <= before + in)
			return fmin(low + (high - low) * (rank - before) / in, max);
		before += in;
	}
	return before > 0.0 ? max : -1.0;
}
