/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The findings of audit sources: the worst error, window lengths, the hidden task. */
#include "measure/audit/sources_judge.h"

#include <stdio.h>

#include "stats/precision.h"

void audit_judge_worst(struct audit_findings *f, const char *load,
		       const struct audit_error errors[AUDIT_NR_WINDOWS])
{
	for (size_t i = 0; i < AUDIT_NR_WINDOWS; i++) {
		uint64_t window_ns = audit_windows_ns[i];

		if (!errors[i].windows || window_ns < AUDIT_FAIL_WINDOW_NS ||
		    (f->worst_known && errors[i].max <= f->worst_error))
			continue;
		f->worst_known = true;
		f->worst_error = errors[i].max;
		f->worst_window_ns = window_ns;
		snprintf(f->worst_load, sizeof(f->worst_load), "the load \"%s\"", load);
	}
}

int audit_judge_good(struct audit_findings *f, const struct audit_samples *samples, size_t columns,
		     const struct audit_load_run *run)
{
	static const size_t steps[] = {10, 20, 50, 100, 200};
	struct precision_point points[sizeof(steps) / sizeof(steps[0])];
	size_t nr = 0, all = samples->nr - 1;
	double bias;

	/* On a core that other tasks fill, every figure is right. */
	f->good_disturbed = run->disturbed;
	if (run->disturbed || (run->truth.flags | run->columns.flags) & LOAD_NO_FIGURE)
		return 0;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct audit_error error;
		int rc = audit_samples_error(samples, columns, steps[i], &error);

		if (rc)
			return rc;
		if (all < steps[i] * PRECISION_MIN_WINDOWS || !error.windows)
			break;
		points[nr++] = (struct precision_point){.window_ns = steps[i] * AUDIT_STEP_NS,
							.rms_error = error.rms,
							.windows = (double)all / (double)steps[i]};
	}
	/* In windows below half a second the error is mostly rounding. */
	if (!nr || points[nr - 1].window_ns < AUDIT_FAIL_WINDOW_NS / 2)
		return 0;
	bias = run->columns.busy_ratio - run->truth.busy_ratio;
	f->good_known = true;
	f->good_from_ns = points[nr - 1].window_ns;
	f->good_error = points[nr - 1].rms_error;
	f->good_1_ns = precision_estimate(0.01, points, nr, bias, run->truth.window_ns);
	f->good_01_ns = precision_estimate(0.001, points, nr, bias, run->truth.window_ns);
	return 0;
}

void audit_judge_hidden(struct audit_findings *f, const struct audit_load_run *run, double share)
{
	if ((run->truth.flags | run->columns.flags) & LOAD_NO_FIGURE)
		return;
	/* Other work is in both figures; most of our task must be in the true one only. */
	f->hide_found = run->truth.busy_ratio - run->columns.busy_ratio >= share / 2.0;
	f->hidden_true = run->truth.busy_ratio;
	f->hidden_shown = run->columns.busy_ratio;
	f->hidden_phase_ns = run->phase_ns;
}

void audit_judge_softirq(struct audit_findings *f, const struct audit_load_run *run)
{
	double softirq = load_part_ratio(&run->truth, LOAD_PART_SOFTIRQ_ON_IDLE);

	if (!run->parts_known || !run->idle_known || softirq < 0.05 ||
	    (run->truth.flags | run->idle_based.flags) & LOAD_NO_FIGURE)
		return;
	f->softirq_known = true;
	f->softirq_as_idle = (run->truth.busy_ratio - run->idle_based.busy_ratio) / softirq;
}
