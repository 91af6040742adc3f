/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A load of known size must be measured within one percentage point, at any duty and period. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "gen/loads.h"
#include "idle_log.h"
#include "judge.h"
#include "live.h"

#define BOUND	  0.01 /* one percentage point, as promised */
#define CLOSURE	  0.005
#define WINDOW_MS 1000

/* Other tasks and a late reader may each cause a third of the allowed error. */
static const struct witness_limits limits = {
	.taken = BOUND / 3, .waited = BOUND / 3, .own_interrupts = true};

struct point {
	struct subtick *bpf;
	struct idle_log *idle; /* NULL: this kernel shows no entries into idle */
	const char *no_idle;   /* why */
	struct duty_opts opts;
	struct gen_child duty;
};

/*
 * What the core was surely doing, as shares of the window. From the generator's stamps: it was in
 * user space from each wake-up to the next call to sleep, and due again at a known time. Between
 * the call and the deadline it is not idle all the time: the kernel has to take the task off the
 * core, choose an idle state and program the timer, and that is work. Where that ends, the kernel's
 * event cpu_idle says, stamped by a program of the test's own (idle_log.h). So per sleep
 *
 *	surely halted:	 from the entry into idle to the deadline
 *	possibly halted: from the entry into idle to the first stamp after it
 *
 * and busy is 1 less the one or the other. Neither uses a stamp of subtick's. What interrupts do
 * while the core sleeps (a tick now and then) is left out: 250 of 5 us each are 0.1 points.
 */
struct truth {
	double low, high;
	double task;	      /* the thread clock: what the core surely did for the generator */
	double threads;	      /* of the kernel, which serve the timers under PREEMPT_RT */
	double way_in_ns;     /* per sleep, from the call to the entry into idle */
	double lateness_ns;   /* and from the deadline to the first stamp */
	uint64_t first_entry; /* into idle, of this window */
};

/*
 * Both ends are taken when a burn has just ended, so that the generator's figures and the window
 * cover the same time to within the reading itself.
 */
static bool next_usage(const struct gen_child *duty, struct duty_usage *usage)
{
	uint64_t was, end = clock_mono_ns() + 2 * NSEC_PER_SEC;

	/* A generator of long periods on a slow machine has nothing to show yet. */
	while (!duty_read(duty, usage)) {
		if (clock_mono_ns() > end)
			return false;
		live_sleep_ms(1);
	}
	was = usage->cycles;
	while (usage->cycles == was) {
		if (clock_mono_ns() > end)
			return false;
		duty_read(duty, usage);
	}
	return true;
}

/* Matches idle entries with sleeps. Returns false if some are lost. */
static bool bound_by_idle(const struct point *point, const struct duty_usage *first,
			  const struct duty_usage *last, struct truth *truth)
{
	double window = (double)(last->at_ns - first->at_ns);
	uint64_t surely = 0, possibly = 0, way_in = 0, late = 0, sleeps = 0;
	uint64_t at = truth->first_entry, end = idle_log_count(point->idle);

	if (last->cycles - first->cycles >= DUTY_SLEEPS || end - at >= IDLE_LOG_NR)
		return false;
	for (uint64_t cycle = first->cycles + 1; cycle <= last->cycles; cycle++) {
		struct duty_sleep sleep = duty_sleep(&point->duty, cycle);
		uint64_t entry;

		if (!sleep.due_ns)
			continue;
		while (at < end && idle_log_stamp(point->idle, at) < sleep.call_ns)
			at++;
		entry = at < end ? idle_log_stamp(point->idle, at) : UINT64_MAX;
		/* No entry: another task kept the core busy all the time. */
		if (entry >= sleep.woke_ns)
			continue;
		possibly += sleep.woke_ns - entry;
		surely += sleep.due_ns > entry ? sleep.due_ns - entry : 0;
		way_in += entry - sleep.call_ns;
		late += sleep.woke_ns - sleep.due_ns;
		sleeps++;
	}
	truth->low = fmax(truth->low, 1.0 - (double)possibly / window);
	truth->high = 1.0 - (double)surely / window;
	truth->way_in_ns = sleeps ? (double)way_in / (double)sleeps : 0.0;
	truth->lateness_ns = sleeps ? (double)late / (double)sleeps : 0.0;
	return true;
}

/* One window with its truth. */
static bool measure_once(const struct point *point, struct live_split *split,
			 struct truth *truth)
{
	struct witness_tasks before, after;
	struct duty_usage first, last;
	struct witness_work work;
	double window;

	*truth = (struct truth){.high = NAN};
	witness_tasks_read(&before);
	if (!next_usage(&point->duty, &first))
		return false;
	live_update(point->bpf);
	if (point->idle)
		truth->first_entry = idle_log_count(point->idle);
	live_sleep_ms(WINDOW_MS);
	if (!next_usage(&point->duty, &last))
		return false;
	live_update(point->bpf);
	live_split(point->bpf, point->opts.cpu, split);
	witness_tasks_read(&after);
	witness_tasks_between(&before, &after, point->opts.cpu, &work);
	witness_tasks_free(&before);
	witness_tasks_free(&after);
	window = (double)(last.at_ns - first.at_ns);
	truth->task = (double)(last.cpu_ns - first.cpu_ns) / window;
	truth->low = (double)(last.burn_ns - first.burn_ns) / window;
	truth->threads = live_realtime() ? (double)work.threads_ns / window : 0.0;
	return !point->idle || bound_by_idle(point, &first, &last, truth);
}

static void measure(void *arg, struct verdict *verdict)
{
	const struct point *point = arg;
	struct live_split s = {0};
	struct truth truth;
	bool measured = measure_once(point, &s, &truth);
	double tasks = s.task + s.softirq_on_task + s.ksoftirqd;
	double parts = tasks + s.hardirq + s.softirq_on_idle + s.idle_loop;
	char what[80];

	snprintf(what, sizeof(what), "duty %.0f %% of %.1f ms, %s", point->opts.duty * 100.0,
		 (double)point->opts.period_ns / 1e6,
		 point->opts.locked ? "locked to the tick" : "at random");
	verdict_figure(verdict, measured && s.busy >= truth.low - BOUND,
		       "%s: busy %.2f %% is not under %.2f, less a point", what, s.busy * 100.0,
		       truth.low * 100.0);
	if (point->idle)
		verdict_figure(verdict, measured && s.busy <= truth.high + truth.threads + BOUND,
			       "%s: busy %.2f %% is not over %.2f, and a point (into idle %.2f us, "
			       "deadline to first stamp %.2f us)",
			       what, s.busy * 100.0, (truth.high + truth.threads) * 100.0,
			       truth.way_in_ns / 1e3, truth.lateness_ns / 1e3);
	else
		verdict_unknown(verdict, point->no_idle, "%s: busy %.2f %% is not too high", what,
				s.busy * 100.0);
	/* A thread's clock runs on in hardirqs, but where the kernel accounts for them. */
	verdict_figure(verdict,
		       measured && tasks <= truth.task + truth.threads + BOUND &&
			       tasks + s.hardirq >= truth.task - BOUND,
		       "%s: tasks %.2f %%, by the thread clock %.2f, within a point", what,
		       tasks * 100.0, truth.task * 100.0);
	verdict_figure(verdict, measured && s.closure_error < CLOSURE,
		       "%s: closure error %.4f %% is under %.1f %%", what, s.closure_error * 100.0,
		       CLOSURE * 100.0);
	verdict_always(verdict, !measured || fabs(s.busy - parts) < 1e-4,
		       "%s: busy is the sum of its parts: %.4f %%, %.4f %%", what, s.busy * 100.0,
		       parts * 100.0);
}

/*
 * Run time of our BPF programs per wake-up, from the kernel's statistics. Our own timestamps lie
 * inside the programs. Each is called once or twice per sleep of the generator.
 */
static void tell_own_cost(const struct point *point)
{
	static const struct {
		const char *name;
		double per_sleep;
	} calls[] = {{"load_idle", 2},
		     {"load_switch", 2},
		     {"load_irq_enter", 1},
		     {"load_irq_leave", 1},
		     {"load_local_time", 1}}; /* x86, enter and leave alike in 15 letters */
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	double sum = 0.0;

	if (stats < 0) {
		live_note("the run time of our programs is unknown: no BPF_ENABLE_STATS here");
		return;
	}
	live_sleep_ms(WINDOW_MS);
	for (int fd = 3; fd < 1024; fd++) {
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);
		char path[32], target[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof(target) - 1) < 0 ||
		    strcmp(target, "anon_inode:bpf-prog") ||
		    bpf_obj_get_info_by_fd(fd, &info, &len) || info.run_cnt < 1000)
			continue;
		for (size_t j = 0; j < sizeof(calls) / sizeof(calls[0]); j++)
			if (!strncmp(info.name, calls[j].name, 15)) {
				double each = (double)info.run_time_ns / (double)info.run_cnt;

				live_note("%s: %.0f ns a call, %llu calls", info.name, each,
					  (unsigned long long)info.run_cnt);
				sum += each * calls[j].per_sleep;
			}
	}
	live_note("our own programs take %.2f us per wake-up: %.2f points of busy at a period of "
		  "%.1f ms",
		  sum / 1e3, sum / (double)point->opts.period_ns * 100.0,
		  (double)point->opts.period_ns / 1e6);
	close(stats);
}

static enum judged check_point(struct point *point, bool tell)
{
	struct judge_opts opts = {
		.cpu = point->opts.cpu, .limits = limits, .measure = measure, .arg = point};
	enum judged judged;
	struct err err = {0};

	if (duty_start(&point->duty, &point->opts, &err)) {
		live_ok(false, "start the generator: %s", err.what);
		return JUDGED_FAILED;
	}
	live_sleep_ms(50);
	judged = judge(&opts);
	if (tell)
		tell_own_cost(point);
	gen_child_stop(&point->duty);
	return judged;
}

int main(void)
{
	static const double duties[] = {0.01, 0.30, 0.70, 0.99};
	static const uint64_t periods_us[] = {100, 1000, 4000, 20000};
	size_t step = live_emulated() ? 2 : 1;
	int cpu, other, points = 0, judged = 0;
	struct idle_log idle;
	struct err err = {0};
	struct point point = {0};

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs((const char *const[]){"load", "--source", "bpf", "0.01", "1", NULL});
	live_pin(other);
	live_first();
	point.bpf = live_source("bpf", true);
	/* After ours. */
	if (idle_log_open(&idle, cpu, &err))
		point.no_idle = err.what;
	else
		point.idle = &idle;
	/* On emulated machines only every other period runs, because time is not judged there. */
	for (size_t p = 0; p < sizeof(periods_us) / sizeof(periods_us[0]); p += step)
		for (size_t d = 0; d < sizeof(duties) / sizeof(duties[0]); d++) {
			point.opts = (struct duty_opts){
				.cpu = cpu,
				.duty = duties[d],
				.period_ns = live_period(periods_us[p] * NSEC_PER_USEC),
				.locked = (p + d) % 2,
				.log = true,
			};
			points++;
			judged += check_point(&point, !p && d == 1) != NOT_JUDGED;
		}
	live_note("%d of %d points were judged", judged, points);
	if (point.idle)
		idle_log_close(&idle);
	subtick_close(point.bpf);
	return live_done();
}
