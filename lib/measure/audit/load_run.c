/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Summarises one load of audit sources. */
#include "measure/audit/load_run.h"

#include "measure/audit/audit.h"

const uint64_t audit_windows_ns[AUDIT_NR_WINDOWS] = {10000000, 100000000, 1000000000, 10000000000};

const uint64_t audit_fine_ns[AUDIT_NR_FINE] = {1000000, 2000000, 5000000};

int audit_load_run_fine(struct audit_load_run *run, const struct audit_samples *samples)
{
	int rc = 0;

	for (size_t at = 1; at < samples->set.nr && !rc; at++)
		for (size_t i = 0; i < AUDIT_NR_FINE && !rc; i++)
			rc = audit_samples_error(samples, at, audit_fine_ns[i] / AUDIT_FINE_STEP_NS,
						 &run->fine[at][i]);
	return rc;
}

static void describe(struct audit_load_run *run, const struct audit_samples *samples,
		     unsigned int user_hz)
{
	const struct source_set *set = &samples->set;
	int columns = source_set_find(set, "procstat"), idle = source_set_find(set, "procidle");
	size_t last = samples->nr - 1;

	audit_samples_window(samples, 0, 0, last, &run->truth);
	run->parts_known = set->source[0]->parts >> LOAD_PART_SOFTIRQ_ON_IDLE & 1;
	run->idle_known = idle >= 0;
	if (idle >= 0)
		audit_samples_window(samples, idle, 0, last, &run->idle_based);
	if (columns < 0)
		return;
	audit_samples_window(samples, columns, 0, last, &run->columns);
	run->columns_sum =
		(double)(samples->kept[columns][last].total - samples->kept[columns][0].total) *
		1e9 / user_hz / (double)run->columns.window_ns;
}

static void sum_modes(struct audit_load_run *run, uint32_t parts, unsigned int user_hz)
{
	if (!run->levels_known)
		return;
	audit_modes_shown(&run->from, &run->to, 1000000000 / user_hz, run->levels);
	if (!(run->truth.flags & LOAD_NO_FIGURE))
		audit_modes_true(&run->truth, parts, run->levels);
	/* Other tasks have user time as well, of which the generator knows nothing. */
	if (run->recorded && !run->disturbed)
		audit_modes_true_user(
			(uint64_t)(run->burn_ratio * (double)run->truth.window_ns), run->levels);
	audit_modes_derive(run->levels);
}

int audit_load_run_sum(struct audit_load_run *run, const struct audit_samples *samples,
		       unsigned int user_hz)
{
	int rc = 0;

	describe(run, samples, user_hz);
	run->disturbed =
		run->recorded && run->truth.busy_ratio > run->thread_ratio + AUDIT_OTHERS_MAX;
	sum_modes(run, samples->set.source[0]->parts, user_hz);
	for (size_t at = 1; at < samples->set.nr && !rc; at++)
		for (size_t i = 0; i < AUDIT_NR_WINDOWS && !rc; i++)
			rc = audit_samples_error(samples, at, audit_windows_ns[i] / AUDIT_STEP_NS,
						 &run->errors[at][i]);
	return rc;
}
