/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests loads with several duty cycles and periods: the parts sum to the busy time, which is at
 * least the CPU time that the load used.
 */
#include <math.h>

#include "base/array.h"
#include "base/clock.h"
#include "gen/loads.h"
#include "judge.h"
#include "live.h"

#define BOUND	  0.01 /* one percentage point, the documented error */
#define CLOSURE	  0.005
#define WINDOW_MS 500

/* Other tasks and a late reader may each cause a third of the allowed error. */
static const struct witness_limits limits = {
	.taken = BOUND / 3, .waited = BOUND / 3, .own_interrupts = true};

struct point {
	struct subtick *bpf;
	struct duty_opts opts;
	struct gen_child duty;
};

static void measure(void *arg, struct verdict *verdict)
{
	const struct point *point = arg;
	struct duty_usage first, last;
	struct live_split s = {0};
	double parts, burnt;

	while (!duty_read(&point->duty, &first))
		live_sleep_ms(1);
	live_update(point->bpf);
	live_sleep_ms(WINDOW_MS);
	duty_read(&point->duty, &last);
	live_update(point->bpf);
	live_split(point->bpf, point->opts.cpu, &s);
	/* At each end of the window at most one busy interval of the load generator is cut off. */
	burnt = (double)(last.burn_ns - first.burn_ns) / (double)s.window_ns -
		(double)point->opts.period_ns / (double)s.window_ns;
	parts = s.task + s.softirq_on_task + s.ksoftirqd + s.hardirq + s.softirq_on_idle +
		s.idle_loop;
	live_note("duty %.0f %% of %.1f ms", point->opts.duty * 100.0,
		  (double)point->opts.period_ns / 1e6);
	verdict_figure(verdict, s.busy >= burnt - BOUND,
		       "busy %.2f %% is at least what the generator burnt, %.2f %%, less a point",
		       s.busy * 100.0, burnt * 100.0);
	verdict_figure(verdict, s.closure_error < CLOSURE, "closure error %.4f %% is under %.1f %%",
		       s.closure_error * 100.0, CLOSURE * 100.0);
	verdict_always(verdict, fabs(s.busy - parts) < 1e-4,
		       "busy is the sum of its parts: %.4f %%, %.4f %%", s.busy * 100.0,
		       parts * 100.0);
}

static void check_point(struct point *point)
{
	struct judge_opts opts = {
		.cpu = point->opts.cpu, .limits = limits, .measure = measure, .arg = point};
	struct err err = {0};

	if (duty_start(&point->duty, &point->opts, &err))
		live_fail_all("start the generator: %s", err.what);
	live_sleep_ms(50);
	judge(&opts);
	gen_child_stop(&point->duty);
}

int main(void)
{
	static const double duties[] = {0.01, 0.70};
	static const uint64_t periods_us[] = {100, 4000};
	struct point point = {0};
	int cpu, other;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs(ARGS("load", "--source", "bpf", "0.01", "1"));
	live_pin(other);
	live_first();
	point.bpf = live_source("bpf", true);
	for (size_t i = 0; i < ARRAY_SIZE(duties) * ARRAY_SIZE(periods_us); i++) {
		point.opts = (struct duty_opts){
			.cpu = cpu,
			.duty = duties[i % 2],
			.period_ns = live_period(periods_us[i / 2] * NSEC_PER_USEC),
			.locked = i % 2,
		};
		check_point(&point);
	}
	subtick_close(point.bpf);
	return live_done();
}
