/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stores samples of all sources, and computes the errors of the sources under one load. */
#include "measure/audit/samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "stats/quantile.h"
#include "host/cpu.h"

#define LOADAVG_NS 60e9 /* time constant of the load average of one minute */

int audit_samples_open(struct audit_samples *s, unsigned int cpu, size_t room, struct err *err)
{
	struct load_source_opts opts = {0};
	int rc = cpu_nr(&opts.nr_cpus, err);

	*s = (struct audit_samples){.cpu = cpu, .room = room, .nr_cpus = opts.nr_cpus};
	if (rc)
		return rc;
	rc = source_set_open(&s->set, NULL, &opts, err);
	if (rc) {
		err_prefix(err, "cannot measure the true load of the core");
		return rc;
	}
	source_set_add(&s->set, NULL, &opts);
	s->scratch = blocks_calloc(&s->memory, opts.nr_cpus, sizeof(*s->scratch));
	s->begin = blocks_calloc(&s->memory, opts.nr_cpus, sizeof(*s->begin));
	for (unsigned int i = 0; i < s->set.nr; i++)
		s->kept[i] = blocks_calloc(&s->memory, room, sizeof(*s->kept[i]));
	if (!s->memory.failed)
		return 0;
	audit_samples_close(s);
	return err_set(err, -ENOMEM, "out of memory");
}

void audit_samples_close(struct audit_samples *s)
{
	source_set_close(&s->set);
	blocks_free(&s->memory);
}

void audit_samples_add(struct audit_samples *s)
{
	if (s->nr == s->room)
		return;
	for (unsigned int i = 0; i < s->set.nr; i++) {
		struct load_source *source = s->set.source[i];

		source->ops->sample(source, s->scratch);
		s->kept[i][s->nr] = s->scratch[s->cpu];
	}
	s->nr++;
}

void audit_samples_window(const struct audit_samples *s, size_t at, size_t from, size_t to,
			  struct load_cpu_window *ret_window)
{
	const struct load_source *source = s->set.source[at];

	load_subtract(&s->kept[at][from], &s->kept[at][to], source->rate, source->parts,
		      ret_window);
}

void audit_samples_begin(struct audit_samples *s)
{
	s->set.source[0]->ops->sample(s->set.source[0], s->begin);
	if (getloadavg(&s->loadavg, 1) != 1)
		s->loadavg = NAN;
}

void audit_samples_loadavg(struct audit_samples *s, double *ret_shown, double *ret_true)
{
	struct load_source *source = s->set.source[0];
	double busy = 0.0, keep, window_ns = 0.0;

	source->ops->sample(source, s->scratch);
	for (unsigned int cpu = 0; cpu < s->nr_cpus; cpu++) {
		struct load_cpu_window window;

		load_subtract(&s->begin[cpu], &s->scratch[cpu], source->rate, source->parts, &window);
		if (window.flags & LOAD_NO_FIGURE)
			continue;
		busy += window.busy_ratio;
		window_ns = (double)window.window_ns;
	}
	keep = exp(-window_ns / LOADAVG_NS);
	*ret_true = window_ns > 0.0 ? s->loadavg * keep + busy * (1.0 - keep) : NAN;
	if (getloadavg(ret_shown, 1) != 1)
		*ret_shown = NAN;
}

int audit_samples_error(const struct audit_samples *s, size_t at, size_t steps,
			struct audit_error *ret_error)
{
	struct audit_error e = {0};
	double *sizes = calloc(s->nr + 1, sizeof(*sizes));

	if (!sizes)
		return -ENOMEM;
	for (size_t from = 0; from + steps < s->nr; from++) {
		struct load_cpu_window truth, shown;

		audit_samples_window(s, 0, from, from + steps, &truth);
		audit_samples_window(s, at, from, from + steps, &shown);
		if ((truth.flags | shown.flags) & LOAD_NO_FIGURE) {
			e.voids++;
			continue;
		}
		e.true_ratio += truth.busy_ratio;
		e.shown_ratio += shown.busy_ratio;
		sizes[e.windows] = fabs(shown.busy_ratio - truth.busy_ratio);
		e.rms += sizes[e.windows] * sizes[e.windows];
		e.windows++;
	}
	e.true_ratio /= (double)e.windows;
	e.shown_ratio /= (double)e.windows;
	e.bias = e.shown_ratio - e.true_ratio;
	e.rms = sqrt(e.rms / (double)e.windows);
	quantile_sort(sizes, e.windows);
	e.median = quantile_of(sizes, e.windows, 0.5);
	e.p99 = quantile_of(sizes, e.windows, 0.99);
	e.max = quantile_of(sizes, e.windows, 1.0);
	free(sizes);
	*ret_error = e;
	return 0;
}

const uint64_t audit_windows_ns[AUDIT_NR_WINDOWS] = {10000000, 100000000, 1000000000, 10000000000};

const uint64_t audit_fine_ns[AUDIT_NR_FINE] = {1000000, 2000000, 5000000};

/* Computes errors[source][window] of each source except the first, which is the reference. */
static int sum_errors(const struct audit_samples *samples, const uint64_t *windows_ns, size_t nr,
		      uint64_t step_ns, struct audit_error *errors)
{
	int rc = 0;

	for (size_t i = nr; i < samples->set.nr * nr && !rc; i++)
		rc = audit_samples_error(samples, i / nr, windows_ns[i % nr] / step_ns, &errors[i]);
	return rc;
}

int audit_load_run_fine(struct audit_load_run *run, const struct audit_samples *samples)
{
	return sum_errors(samples, audit_fine_ns, AUDIT_NR_FINE, AUDIT_FINE_STEP_NS, run->fine[0]);
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
	double window_ns = (double)run->truth.window_ns;
	/* the split of the CPU time of other tasks into user and system time is unknown */
	bool split = run->recorded && !run->disturbed;

	if (!run->levels_known)
		return;
	audit_modes_shown(&run->from, &run->to, 1000000000 / user_hz, run->levels);
	if (!(run->truth.flags & LOAD_NO_FIGURE))
		audit_modes_true(&run->truth, parts, run->levels);
	if (split)
		audit_modes_split(AUDIT_MODE_TASKS, run->burns, AUDIT_MODE_SYSTEM,
				  (uint64_t)(run->burn_ratio * window_ns), run->levels);
	if (split && run->waits_for_io)
		audit_modes_split(AUDIT_MODE_ALL_IDLE, AUDIT_MODE_IOWAIT, AUDIT_MODE_IDLE,
				  (uint64_t)(run->wait_ratio * window_ns), run->levels);
	audit_modes_derive(run->levels);
}

int audit_load_run_sum(struct audit_load_run *run, const struct audit_samples *samples,
		       unsigned int user_hz)
{
	describe(run, samples, user_hz);
	run->disturbed =
		run->recorded && run->truth.busy_ratio > run->thread_ratio + AUDIT_OTHERS_MAX;
	sum_modes(run, samples->set.source[0]->parts, user_hz);
	return sum_errors(samples, audit_windows_ns, AUDIT_NR_WINDOWS, AUDIT_STEP_NS,
			  run->errors[0]);
}

int audit_judge_good(struct audit_findings *f, const struct audit_samples *samples, size_t columns,
		     const struct audit_load_run *run)
{
	static const size_t steps[] = {10, 20, 50, 100, 200};
	struct precision_point points[ARRAY_SIZE(steps)];
	size_t nr = 0, all = samples->nr - 1;
	double bias;

	/*
	 * Do not judge a disturbed load: other tasks can keep the core fully busy, and then every
	 * source shows 100 %.
	 */
	f->good_disturbed = run->disturbed;
	if (run->disturbed || (run->truth.flags | run->columns.flags) & LOAD_NO_FIGURE)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
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
	/* Below half a second the error of /proc/stat is mostly rounding to 1/USER_HZ s. */
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
	/*
	 * The true load and the load in /proc/stat both include other tasks. The load AUDIT_HIDDEN
	 * is hidden if at least half of its CPU time is missing in /proc/stat.
	 */
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
