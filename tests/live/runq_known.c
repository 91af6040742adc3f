/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits of known size: two burners share one core, so each waits while the other runs. */
#include <math.h>
#include <stdio.h>

#include "cgroups.h"
#include "judge.h"
#include "live.h"
#include "runq_window.h"

#define BOUND	  0.05
#define WINDOW_MS 2000

/*
 * Waits behind others are in the kernel's accounting as well as in ours, but not in what the hog
 * ran. A reader that comes late makes the window and the accounting differ by that much.
 */
static const struct witness_limits limits = {.taken = BOUND / 2, .waited = BOUND / 5};

struct setup {
	const char *victim, *hog, *name;
	pid_t victim_pid, hog_pid;
	struct runq_opts opts;
};

static bool between(double got, double least, double most, double bound)
{
	return got >= least * (1.0 - bound) && got <= most * (1.0 + bound);
}

static void read_schedstats(const struct setup *setup, struct load_stat *victim,
			    struct load_stat *hog)
{
	*victim = load_schedstat(setup->victim_pid);
	*hog = load_schedstat(setup->hog_pid);
}

static struct report *measure_window(const struct setup *setup, struct load_schedstats *victim,
				  struct load_schedstats *hog)
{
	struct meter *meter = window_open(&setup->opts);
	struct report *report;

	/* The first waits of source wakeup have no known start: not of this window. */
	window_begin(meter);
	report_free(window_end(meter, 200));
	read_schedstats(setup, &victim->before, &hog->before);
	report_free(window_end(meter, 0));
	read_schedstats(setup, &victim->begun, &hog->begun);
	window_wait(meter, WINDOW_MS);
	read_schedstats(setup, &victim->ending, &hog->ending);
	report = window_end(meter, 0);
	read_schedstats(setup, &victim->after, &hog->after);
	meter->ops->close(meter);
	return report;
}

/* One window with both burners, against what /proc says about them. */
static void measure(void *arg, struct verdict *verdict)
{
	const struct setup *setup = arg;
	struct load_schedstats victim, hog;
	struct report *report = measure_window(setup, &victim, &hog);
	struct load_stat least = load_least(&victim), most = load_most(&victim);
	double sum = window_group(report, setup->victim, "sum_ns");
	double count = window_group(report, setup->victim, "count");
	double max = window_group(report, setup->victim, "max_ns");
	double blamed = window_blame(report, setup->victim, setup->hog);
	double all = window_blame(report, setup->victim, NULL);
	double causes = window_group(report, setup->victim, "causes.preempted_ns") +
			window_group(report, setup->victim, "causes.other_group_ns");

	/* A switch that is under way at either end may be in the one and not yet in the other. */
	verdict_count(
		verdict,
		count >= least.count * (1.0 - BOUND / 5) - 1 &&
			count <= most.count * (1.0 + BOUND / 5) + 1,
		"%s: %.0f waits, %.0f to %.0f by the kernel's accounting, within %.0f %% and one",
		setup->name, count, least.count, most.count, BOUND * 20.0);
	verdict_figure(
		verdict, between(sum, least.waited_ns, most.waited_ns, BOUND / 5),
		"%s: %.2f ms waited, %.2f to %.2f by the kernel's accounting, within %.0f %%",
		setup->name, sum / 1e6, least.waited_ns / 1e6, most.waited_ns / 1e6, BOUND * 20.0);
	verdict_figure(verdict,
		       between(blamed, load_least(&hog).ran_ns, load_most(&hog).ran_ns, BOUND),
		       "%s: %.2f ms behind the hog, which ran %.2f to %.2f, within %.0f %%",
		       setup->name, blamed / 1e6, load_least(&hog).ran_ns / 1e6,
		       load_most(&hog).ran_ns / 1e6, BOUND * 100.0);
	verdict_figure(verdict, causes > 0.9 * sum,
		       "%s: %.1f ms of that by being preempted or behind others", setup->name,
		       causes / 1e6);
	/* Waits that end between the reading of the two tables are in one of them only. */
	verdict_always(verdict, fabs(all - sum) <= (most.count - least.count + 2) * max,
		       "%s: the culprits' rows sum to the wait: %.2f ms, %.2f ms", setup->name,
		       all / 1e6, sum / 1e6);
	verdict_always(verdict, window_group(report, setup->victim, "causes.idle_exit_ns") == 0.0,
		       "%s: a core with two burners is never idle", setup->name);
	verdict_always(verdict, max >= window_group(report, setup->victim, "p99_ns"),
		       "%s: no percentile exceeds the longest wait", setup->name);
	report_free(report);
}

int main(void)
{
	struct setup setup = {.opts = {.blame = true}};
	struct judge_opts opts = {.limits = limits, .measure = measure, .arg = &setup};
	int other;

	cgroups_open();
	if (!live_two_cpus(&opts.cpu, &other))
		live_skip_all("needs two CPUs");
	setup.opts.hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1;
	setup.victim = cgroups_make("victim");
	setup.hog = cgroups_make("hog");
	live_pin(other);
	live_first();
	setup.hog_pid = load_burner(setup.hog, opts.cpu);
	setup.victim_pid = load_burner(setup.victim, opts.cpu);

	setup.name = "sched_info";
	setup.opts.source = RUNQ_SOURCE_SCHED_INFO;
	judge(&opts);
	setup.name = "wakeup";
	setup.opts.source = RUNQ_SOURCE_WAKEUP;
	judge(&opts);
	load_kill(setup.hog_pid);
	load_kill(setup.victim_pid);
	return live_done();
}
