/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * subtick wake on this kernel: number of points, no negative latency, distances, agreement of
 * sources.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/loads.h"
#include "idle_log.h"
#include "judge.h"
#include "live.h"
#include "measure/wake/probe.h"
#include "measure/wake/run.h"
#include "stats/hist.h"
#include "stats/wake.h"
#include "host/cpu.h"

#define POINTS "40"
#define STEPS  7 /* 300 µs … 531 µs */
#define ASKED  280
#define NAP_NS 1000000
/* The first timer wake-up may precede the first read of the histogram. */
#define MAX_UNSEEN 5

/* Half of the points may be lost to other tasks. A task with a fifth of the core affects fewer. */
static const struct witness_limits limits = {
	.taken = 0.2, .waited = 0.2, .own_forks = UINT_MAX, .own_irqs = UINT_MAX};

static int cpu, other;
/* An emulated core is still awake 300 µs after it woke. */
static uint64_t from_ns = 300000, to_ns = 550000;
static char from_text[16], to_text[16];
static char cpu_text[16], points_path[64];

static const char *const rejected[] = {"before_idle", "woken_early", "other_first", "negative",
				       "elsewhere",   "nmi",	     "lost"};

static double sum_rejected(json_t *root)
{
	double sum = 0;

	for (size_t i = 0; i < sizeof(rejected) / sizeof(rejected[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), "rejected.%s_total", rejected[i]);
		sum += live_number(root, path);
	}
	return sum;
}

static json_t *run(const char *source)
{
	const char *args[] = {"wake",	   "--sources", source,	 "-C", cpu_text, "--from",
			      from_text,   "--to",	to_text, "-n", POINTS,	 "--points",
			      points_path, "--json",	"-b",	 NULL};

	return live_json(args);
}

/* Compares every point of the file with the options. Returns the number of valid points. */
static int check_points(const char *source, bool *ret_sane)
{
	json_error_t error;
	json_t *file = json_load_file(points_path, 0, &error), *point;
	json_t *points = json_object_get(file, "points");
	size_t i;
	int taken = 0;

	*ret_sane = json_array_size(points) == ASKED;
	json_array_foreach(points, i, point)
	{
		double distance = live_number(point, "distance_ns");
		double silent = live_number(point, "silent_ns");
		double latency = live_number(point, "latency_ns");

		*ret_sane &= !strcmp(json_string_value(json_object_get(point, "source")), source);
		*ret_sane &= distance >= (double)from_ns && distance <= (double)to_ns;
		if (json_is_string(json_object_get(point, "rejected")))
			continue;
		taken++;
		*ret_sane &= latency >= 0 && silent > 0;
		/* The launch of a timer is exact. A sender may be late, never early. */
		if (!strcmp(source, "timer"))
			*ret_sane &= silent <= distance;
		*ret_sane &= live_number(point, "user_ns") >= latency;
		*ret_sane &= live_number(point, "switch_ns") > live_number(point, "irq_ns");
	}
	json_decref(file);
	return taken;
}

/* With several idle states the governor spreads the points over them. */
static void check_states(struct verdict *verdict, json_t *root, const char *source, int taken)
{
	bool ordered = true;
	double held = 0;
	json_t *state;
	size_t i;

	json_array_foreach(json_object_get(root, "states"), i, state)
	{
		double count = live_number(state, "count");

		if (!(count > 0))
			continue;
		held += count;
		ordered &= live_number(state, "min_ns") <= live_number(state, "median_ns") &&
			   live_number(state, "median_ns") <= live_number(state, "max_ns");
	}
	verdict_always(verdict, held == taken, "%s: the idle states hold them all (%.0f of %d)",
		       source, held, taken);
	verdict_always(verdict, ordered, "%s: min, median and max in order", source);
}

static void measure_source(void *arg, struct verdict *verdict)
{
	const char *source = arg;
	json_t *root = run(source);
	json_t *overhead = json_object_get(root, "overhead_ns");
	json_t *uncertainty = json_object_get(root, "uncertainty_ns");
	bool sane, known = json_number_value(overhead) > 0 && json_number_value(uncertainty) > 0;
	int taken = check_points(source, &sane);

	verdict_always(verdict, root != NULL, "%s: runs", source);
	verdict_always(verdict, live_number(root, "asked_total") == ASKED,
		       "%s: as many points as asked", source);
	verdict_figure(verdict, taken > ASKED / 2, "%s: most points count (%d of %d)", source,
		       taken, ASKED);
	verdict_always(verdict,
		       live_number(root, "taken_total") == taken &&
			       taken + sum_rejected(root) == ASKED,
		       "%s: taken and rejected make the whole", source);
	verdict_always(verdict, sane, "%s: none negative, launch distances kept, stages in order",
		       source);
	check_states(verdict, root, source, taken);
	/* The overhead is measured on the idle core, so it needs a core without other tasks. */
	verdict_count(verdict, !taken || known, "%s: knows its overhead and uncertainty", source);
	verdict_always(verdict,
		       known || (json_is_null(overhead) && json_is_null(uncertainty) &&
				 live_has_note(root, "overhead of our stamp is unknown")),
		       "%s: states both, or says why not", source);
	/* There is no figure if every interrupt was late or coincided with another interrupt. */
	verdict_figure(verdict, live_number(root, "cpus.0.busy_median_ns") > 0,
		       "%s: a busy core as baseline", source);
	live_note("%s: median %.0f ns, overhead %.0f, uncertainty %.0f, busy core's interrupt %.0f",
		  source, live_number(root, "states.0.median_ns"), live_number(root, "overhead_ns"),
		  live_number(root, "uncertainty_ns"), live_number(root, "cpus.0.busy_median_ns"));
	json_decref(root);
}

static void judge_it(void (*measure)(void *, struct verdict *), const char *arg, int on)
{
	struct judge_opts opts = {
		.cpu = on, .limits = limits, .measure = measure, .arg = (void *)arg};

	judge(&opts);
}

static void spin(void *shared, void *arg)
{
	for (;;)
		*(volatile int *)shared = 1;
}

/* A core that is never idle has no wake latency. */
static void test_busy(void)
{
	struct gen_child child;
	json_t *root;

	if (gen_child_start(&child, cpu, 4096, spin, NULL, NULL)) {
		live_ok(false, "busy: cannot start the load");
		return;
	}
	root = run("timer");
	gen_child_stop(&child);
	live_ok(live_number(root, "taken_total") == 0, "busy: no point of a core that never idles");
	live_ok(live_number(root, "rejected.before_idle_total") == ASKED,
		"busy: each rejected because the event came before idle");
	live_ok(json_array_size(json_object_get(root, "states")) == 0, "busy: no state, no figure");
	json_decref(root);
}

/* True if the launches on the two cores overlap in time. */
static bool launches_overlap(void)
{
	double first[2] = {INFINITY, INFINITY}, last[2] = {0, 0};
	json_error_t error;
	json_t *file = json_load_file(points_path, 0, &error), *point;
	size_t i;

	json_array_foreach(json_object_get(file, "points"), i, point)
	{
		double launch = live_number(point, "launch_ns");
		int which = live_number(point, "cpu") == live_number(file, "points.0.cpu");

		first[which] = fmin(first[which], launch);
		last[which] = fmax(last[which], launch);
	}
	json_decref(file);
	return fmax(first[0], first[1]) < fmin(last[0], last[1]);
}

static void measure_two_cores(void *arg, struct verdict *verdict)
{
	const char *args[] = {"wake", "--from",	  to_text,     "--to",	 to_text, "-n",
			      "100",  "--points", points_path, "--json", NULL};
	json_t *root = live_json(args);
	double first = live_number(root, "cpus.0.taken_total");
	double second = live_number(root, "cpus.1.taken_total");

	verdict_figure(verdict, first > 0 && second > 0,
		       "two cores at once: points of both (%.0f and %.0f)", first, second);
	verdict_figure(verdict, launches_overlap(),
		       "two cores at once: together, not one after the other");
	json_decref(root);
}

#define NR_RANKS 3 /* quartiles */

struct agreement {
	struct rank {
		double timer_ns;	/* a quartile of the timer's points */
		double low_ns, high_ns; /* bounds of that quartile among all wake-ups */
	} ranks[NR_RANKS];
	double allowed_ns;
	size_t points;
	uint64_t wakeups;
};

/* Wake-ups of the core by their latency, out of every idle state. */
static void count_wakeups(const struct wake_probe *probe, uint64_t ret_count[HIST_NR])
{
	const struct wake_hist *hists = &probe->hists[cpu * probe->nr_states];

	memset(ret_count, 0, HIST_NR * sizeof(*ret_count));
	for (unsigned int state = 0; state < probe->nr_states; state++)
		for (unsigned int i = 0; i < HIST_NR; i++)
			ret_count[i] += hists[state].count[i];
}

/* Value of the @rank-th shortest point. */
static double wakeup_ns(const uint64_t count[HIST_NR], double rank, double total)
{
	return hist_percentile(count, 100.0 * fmin(fmax(rank / total, 0.0), 1.0));
}

/*
 * The timer's wake-ups are a part of all wake-ups. The latencies of the other wake-ups are unknown.
 * If all of them are longer, the rank of a latency stays the same. If all are shorter, the rank
 * grows by their number.
 */
static void compare(const struct wake_run *run, const uint64_t wakeups[HIST_NR],
		    struct agreement *ret_agreement)
{
	const struct wake_worker *worker = &run->workers[0];
	double overhead_ns = worker->calibration.stamp.median_ns;
	double total = (double)hist_total(wakeups);
	struct agreement got = {
		.wakeups = (uint64_t)total,
		.allowed_ns = 2.0 * worker->calibration.stamp.spread_ns +
			      2.0 * worker->calibration.clock_step_ns,
	};
	struct wake_summary unused; /* wake_summarize() sorts */
	double latency[400];

	for (size_t i = 0; i < worker->nr; i++)
		if (worker->points[i].reject == WAKE_TAKEN)
			latency[got.points++] = worker->points[i].latency_ns;
	wake_summarize(latency, got.points, &unused);
	for (unsigned int i = 0; got.points && i < NR_RANKS; i++) {
		size_t at = got.points * (i + 1) / (NR_RANKS + 1);
		double others = total - (double)got.points, rank = (double)at;

		got.ranks[i] = (struct rank){
			.timer_ns = latency[at],
			.low_ns = wakeup_ns(wakeups, rank - MAX_UNSEEN, total) - overhead_ns,
			.high_ns =
				wakeup_ns(wakeups, rank + others + MAX_UNSEEN, total) - overhead_ns,
		};
	}
	*ret_agreement = got;
}

static bool agrees(const struct agreement *got, const struct rank *rank)
{
	double allowed_ns = rank->timer_ns / HIST_SUB + got->allowed_ns;

	return rank->low_ns - allowed_ns <= rank->timer_ns &&
	       rank->timer_ns <= rank->high_ns + allowed_ns;
}

/* Points and histogram of one run see the same timers. */
static bool watch_both(struct agreement *ret_agreement)
{
	struct wake_plan opts = {.sweep = {7 * from_ns / 3, 7 * from_ns / 3, 1.1, 400},
				 .sources = 1u << WAKE_TIMER};
	struct wake_probe_opts probe_opts = {.points = true, .passive = true};
	static uint64_t before[HIST_NR], wakeups[HIST_NR];
	struct wake_probe probe;
	struct wake_run run;
	struct cpuset possible;

	cpuset_add(&opts.cpus, cpu);
	cpu_set(NULL, CPU_POSSIBLE, &possible, NULL);
	probe_opts.nr_cpus = cpuset_end(&possible);
	if (wake_probe_open(&probe, &probe_opts, NULL))
		return false;
	if (wake_run_open(&run, &opts, &probe, NULL)) {
		wake_probe_close(&probe);
		return false;
	}
	wake_run_start(&run, NULL);
	/* The sleeps of the calibration use timers of another length. */
	while (!wake_run_done(&run) && !atomic_load(&run.finished))
		usleep(100);
	count_wakeups(&probe, before);
	wake_run_join(&run, false, NULL);
	count_wakeups(&probe, wakeups);
	for (unsigned int i = 0; i < HIST_NR; i++)
		wakeups[i] -= before[i];
	compare(&run, wakeups, ret_agreement);
	wake_run_close(&run);
	wake_probe_close(&probe);
	return true;
}

static void measure_agreement(void *arg, struct verdict *verdict)
{
	struct agreement got = {0};
	bool ran = watch_both(&got);

	verdict_always(verdict, ran, "passive: runs beside timer");
	verdict_figure(verdict, got.points > 200, "passive: %zu points of 400 to compare with",
		       got.points);
	verdict_count(verdict, got.wakeups + MAX_UNSEEN >= got.points,
		      "passive: %llu wake-ups, among them the timer's %zu",
		      (unsigned long long)got.wakeups, got.points);
	for (unsigned int i = 0; i < NR_RANKS; i++) {
		const struct rank *rank = &got.ranks[i];

		verdict_figure(verdict, got.points > 200 && agrees(&got, rank),
			       "passive: %.0f … %.0f ns at quartile %u, which is the timer's %.0f",
			       rank->low_ns, rank->high_ns, i + 1, rank->timer_ns);
	}
}

/* Sleeps of the generator and cpu_idle entries of the core, counted by the test. */
struct outside {
	uint64_t sleeps, entries;
};

static struct outside look(const struct gen_child *sleeps, const struct idle_log *log)
{
	struct duty_usage usage = {0};

	duty_read(sleeps, &usage);
	return (struct outside){.sleeps = usage.cycles, .entries = idle_log_count(log)};
}

/*
 * A task sleeps on the core at a known rate. The number of idle exits is at most the number of idle
 * entries, which a program of the test counts. Each timer of the sleeper ends idle.
 */
static void measure_passive(void *arg, struct verdict *verdict)
{
	const char *args[] = {"wake",	"--source", "passive", "-C", cpu_text,
			      "--json", "1",	    "1",       NULL};
	struct duty_opts opts = {.cpu = cpu, .duty = 0.01, .period_ns = live_period(NAP_NS)};
	struct outside before, after;
	double seen, timers, expected;
	struct idle_log log;
	struct gen_child sleeps;
	struct err err = {0};
	json_t *root;

	if (idle_log_open(&log, cpu, &err))
		live_fail_all("%s", err.what);
	if (duty_start(&sleeps, &opts, &err))
		live_fail_all("%s", err.what);
	live_sleep_ms(50);
	before = look(&sleeps, &log);
	root = live_json(args);
	after = look(&sleeps, &log);
	gen_child_stop(&sleeps);
	idle_log_close(&log);
	seen = live_number(root, "asked_total");
	timers = live_number(root, "taken_total");
	expected = live_number(root, "window_ns") / (double)opts.period_ns;
	verdict_count(verdict, seen > 0, "passive: sees idle exits without load of its own (%.0f)",
		      seen);
	verdict_always(verdict, seen <= (double)(after.entries - before.entries) + 1,
		       "passive: %.0f exits from idle, which was entered %llu times", seen,
		       (unsigned long long)(after.entries - before.entries));
	verdict_figure(verdict, timers >= expected / 2,
		       "passive: %.0f wake-ups by timers, half of the %.0f that a sleeper has at "
		       "least",
		       timers, expected);
	verdict_always(verdict, timers <= seen, "passive: no more of them than exits");
	json_decref(root);
}

static void test_prewake(void)
{
	json_t *root = run("timer,remote");

	live_ok(live_number(root, "asked_total") == 2 * ASKED, "both sources: points of each");
	live_ok(json_array_size(json_object_get(root, "prewake")) >= 1 ||
			live_number(root, "taken_total") == 0,
		"both sources: pre-wake is reported (%.0f ns)",
		live_number(root, "prewake.0.prewake_ns"));
	json_decref(root);
}

int main(void)
{
	if (geteuid())
		live_skip_all("needs root");
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	if (live_emulated()) {
		from_ns *= 10;
		to_ns *= 10;
	}
	snprintf(from_text, sizeof(from_text), "%lluns", (unsigned long long)from_ns);
	snprintf(to_text, sizeof(to_text), "%lluns", (unsigned long long)to_ns);
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	snprintf(points_path, sizeof(points_path), "/tmp/subtick-wake-%d.json", getpid());
	live_pin(other);
	judge_it(measure_source, "timer", cpu);
	judge_it(measure_source, "remote", cpu);
	test_prewake();
	test_busy();
	judge_it(measure_two_cores, NULL, WITNESS_ALL_CPUS);
	judge_it(measure_passive, NULL, cpu);
	judge_it(measure_agreement, NULL, cpu);
	unlink(points_path);
	return live_done();
}
