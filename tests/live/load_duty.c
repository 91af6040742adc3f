/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A load of known size must be measured within one percentage point, at any duty and period. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "gen/duty.h"
#include "live.h"
#include "others.h"
#include "subtick/cpu_load.h"

#define BOUND	   0.01	 /* one percentage point, as promised */
#define QUIET	   0.003 /* foreign task time on the core that we do not take for our own error */
#define TRIES	   60
#define PATIENCE_S 240 /* for all points together; then one try each */
#define WINDOW_MS  1000

static uint64_t patience_ends_ns;
static int points_measured;

struct truth {
	double low, high; /* what the generator's own stamps allow */
	double task;	  /* its thread clock */
};

struct figures {
	double busy, task_all, hardirq, closure;
	double foreign; /* task time on the core that was not the generator's */
	double others;	/* of that, what the scheduler's own books show; most of all tries */
	double kernel;	/* and, under PREEMPT_RT, of the kernel's threads, which serve the timers */
};

/*
 * Both ends are taken when a burn has just ended, so that the books and the window cover the
 * same time to within the reading itself.
 */
static bool next_books(const struct duty *duty, struct duty_books *books)
{
	uint64_t was, end = clock_mono_ns() + 2 * NSEC_PER_SEC;

	/* A generator of long periods on a slow machine has nothing to show yet. */
	while (!duty_read(duty, books)) {
		if (clock_mono_ns() > end)
			return false;
		live_sleep_ms(1);
	}
	was = books->cycles;
	while (books->cycles == was) {
		if (clock_mono_ns() > end)
			return false;
		duty_read(duty, books);
	}
	return true;
}

static bool measure(struct cpu_load *bpf, struct cpu_load *tasks, int cpu, const struct duty *duty,
		    struct truth *truth, struct figures *figures)
{
	struct duty_books first, last;
	struct cpu_load_split split;
	double window;

	if (!next_books(duty, &first))
		return false;
	cpu_load_update(bpf);
	cpu_load_update(tasks);
	live_sleep_ms(WINDOW_MS);
	if (!next_books(duty, &last))
		return false;
	cpu_load_update(bpf);
	cpu_load_update(tasks);
	cpu_load_get_split(bpf, cpu, &split);
	window = (double)(last.at_ns - first.at_ns);
	truth->low = (double)(last.burn_ns - first.burn_ns) / window;
	truth->high = 1.0 - (double)(last.asleep_ns - first.asleep_ns) / window;
	truth->task = (double)(last.cpu_ns - first.cpu_ns) / window;
	figures->busy = split.busy;
	figures->task_all = split.task + split.softirq_on_task + split.ksoftirqd;
	figures->hardirq = split.hardirq;
	figures->closure = split.closure_error;
	figures->foreign = cpu_load_get(tasks, cpu) - truth->task;
	return split.busy >= 0.0f;
}

/* The same, and what other programs took of the core meanwhile. */
static bool measure_beside(struct cpu_load *bpf, struct cpu_load *tasks, int cpu,
			   const struct duty *duty, struct truth *truth, struct figures *figures)
{
	double most = figures->others;
	struct others before, after;
	bool measured;

	others_read(&before);
	measured = measure(bpf, tasks, cpu, duty, truth, figures);
	others_read(&after);
	figures->others = fmax(most, others_share(&before, &after, cpu));
	figures->kernel = live_realtime() ? others_kernel_share(&before, &after, cpu) : 0.0;
	others_free(&after);
	others_free(&before);
	return measured;
}

static bool is_inside(const struct truth *truth, const struct figures *got)
{
	/* A thread's clock runs on in hardirqs, but where the kernel accounts for them. */
	return got->busy >= truth->low - live_bound(BOUND) &&
	       got->busy <= truth->high + got->kernel + live_bound(BOUND) &&
	       got->task_all <= truth->task + got->kernel + live_bound(BOUND) &&
	       got->task_all + got->hardirq >= truth->task - live_bound(BOUND);
}

/*
 * Another task on the core is not our error: wait until it has gone, keep the bound. One that
 * stays is a reason to skip a point if the scheduler's own books have it too.
 */
static void check_point(struct cpu_load *bpf, struct cpu_load *tasks, int cpu,
			const struct duty_opts *opts)
{
	struct truth truth = {0};
	struct figures got = {0};
	struct err err = {0};
	struct duty duty = {0};
	bool inside = false, quiet = false;
	char what[200];

	if (duty_start(&duty, opts, &err)) {
		live_ok(false, "start the generator: %s", err.what);
		return;
	}
	live_sleep_ms(50);
	for (int tries = 0; tries < TRIES; tries++) {
		if (!measure_beside(bpf, tasks, cpu, &duty, &truth, &got))
			continue;
		inside = is_inside(&truth, &got);
		/* An emulated core's time is never its own, and nobody else runs there. */
		quiet = live_emulated() ? inside : fabs(got.foreign - got.kernel) < QUIET;
		/* Right to the bound though others ran is right. */
		if (quiet || (inside && tries >= 10) || clock_mono_ns() > patience_ends_ns)
			break;
	}
	duty_stop(&duty);
	snprintf(what, sizeof(what),
		 "duty %.0f %% of %.1f ms, %s: busy %.2f %% (stamps allow %.2f … %.2f), tasks %.2f "
		 "%% "
		 "(thread clock %.2f)",
		 opts->duty * 100.0, (double)opts->period_ns / 1e6,
		 opts->locked ? "locked to the tick" : "at random", got.busy * 100.0,
		 truth.low * 100.0, truth.high * 100.0, got.task_all * 100.0, truth.task * 100.0);
	if (!quiet && !inside && got.others > QUIET)
		live_skip(what, "the core was never quiet: other programs took up to %.1f %%",
			  got.others * 100.0);
	else
		live_ok(inside, "%s", what);
	points_measured += quiet && inside;
	live_ok(got.closure < live_bound(0.005), "closure error %.4f %% is under %.1f %%",
		got.closure * 100.0, live_bound(0.005) * 100.0);
}

int main(void)
{
	static const double duties[] = {0.01, 0.30, 0.70, 0.99};
	static const uint64_t periods_us[] = {100, 1000, 4000, 20000};
	size_t step = live_emulated() ? 2 : 1;
	struct cpu_load *bpf, *tasks;
	int cpu, other;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs((const char *const[]){"load", "--source", "bpf", "0.01", "1", NULL});
	live_needs((const char *const[]){"load", "--source", "taskclock", "0.01", "1", NULL});
	live_pin(other);
	patience_ends_ns = clock_mono_ns() + PATIENCE_S * NSEC_PER_SEC;
	bpf = live_source("bpf", true);
	tasks = live_source("taskclock", true);
	/* Every other period where time is not the core's own: each point takes its retries. */
	for (size_t p = 0; p < sizeof(periods_us) / sizeof(periods_us[0]); p += step)
		for (size_t d = 0; d < sizeof(duties) / sizeof(duties[0]); d++) {
			struct duty_opts opts = {
				.cpu = cpu,
				.duty = duties[d],
				.period_ns = live_period(periods_us[p] * NSEC_PER_USEC),
				.locked = (p + d) % 2,
			};

			check_point(bpf, tasks, cpu, &opts);
		}
	live_note("%d points were measured on a quiet core", points_measured);
	cpu_load_destroy(tasks);
	cpu_load_destroy(bpf);
	return live_done();
}
