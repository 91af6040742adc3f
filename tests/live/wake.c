/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests `subtick wake` on this kernel: number of measured wake-ups (points), positive latencies,
 * launch distances, idle exits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/loads.h"
#include "idle_log.h"
#include "live.h"

#define POINTS "40"
#define STEPS  7 /* launch distances from 300 µs to 531 µs */
#define ASKED  280
#define NAP_NS 1000000

static int cpu, other;
/*
 * Range of launch distances of `subtick wake`. The launch distances are ten times longer in
 * emulated guests, whose core is still busy 300 µs after a wake-up.
 */
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

/*
 * Checks that every point (measured wake-up) in the points file matches the options. Returns the
 * number of valid points.
 */
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
		/*
		 * Source timer launches a wake-up exactly at its launch time. Source remote may
		 * launch a wake-up late, but never early.
		 */
		if (!strcmp(source, "timer"))
			*ret_sane &= silent <= distance;
		*ret_sane &= live_number(point, "user_ns") >= latency;
		*ret_sane &= live_number(point, "switch_ns") > live_number(point, "irq_ns");
	}
	json_decref(file);
	return taken;
}

/*
 * Checks that the points are spread over the idle states of the core, if the core has several
 * states.
 */
static void check_states(json_t *root, const char *source, int taken)
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
	live_ok(held == taken, "%s: the idle states hold them all (%.0f of %d)", source, held,
		taken);
	live_ok(ordered, "%s: min, median and max in order", source);
}

/* tests/truth judges the latencies, the number of points and the overhead. */
static void test_source(const char *source)
{
	json_t *root = run(source);
	json_t *overhead = json_object_get(root, "overhead_ns");
	json_t *uncertainty = json_object_get(root, "uncertainty_ns");
	bool sane, known = json_number_value(overhead) > 0 && json_number_value(uncertainty) > 0;
	int taken = check_points(source, &sane);

	live_ok(root != NULL, "%s: runs", source);
	live_ok(live_number(root, "requested_total") == ASKED, "%s: as many points as asked", source);
	live_ok(live_number(root, "taken_total") == taken && taken + sum_rejected(root) == ASKED,
		"%s: taken and rejected make the whole", source);
	live_idle_ok(cpu, taken > ASKED / 2, "%s: most points count (%d of %d)", source, taken,
		     ASKED);
	live_figure(live_number(root, "cpus.0.busy_median_ns") > 0, "%s: a busy core as baseline",
		    source);
	live_ok(sane, "%s: none negative, launch distances kept, stages in order", source);
	check_states(root, source, taken);
	/*
	 * Other tasks on the core can prevent the measurement of the overhead, which needs an idle
	 * core.
	 */
	live_ok(known || (json_is_null(overhead) && json_is_null(uncertainty) &&
			  live_has_note(root, "overhead of subtick's timestamp is unknown")),
		"%s: states overhead and uncertainty, or says why not", source);
	live_note("%s: median %.0f ns, overhead %.0f, uncertainty %.0f, busy core's interrupt %.0f",
		  source, live_number(root, "states.0.median_ns"), live_number(root, "overhead_ns"),
		  live_number(root, "uncertainty_ns"), live_number(root, "cpus.0.busy_median_ns"));
	json_decref(root);
}

static void spin(void *shared, void *arg)
{
	for (;;)
		*(volatile int *)shared = 1;
}

/* Checks that a core that is never idle has no wake latency. */
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

static void test_two_cores(void)
{
	const char *args[] = {"wake", "--from",	  to_text,     "--to",	 to_text, "-n",
			      "100",  "--points", points_path, "--json", NULL};
	json_t *root = live_json(args);
	double first = live_number(root, "cpus.0.taken_total");
	double second = live_number(root, "cpus.1.taken_total");

	live_idle_ok(cpu, first > 0 && second > 0,
		     "two cores at once: points of both (%.0f and %.0f)", first, second);
	live_figure(launches_overlap(), "two cores at once: together, not one after the other");
	json_decref(root);
}

/* The test's own counts of the load task's sleeps and of the core's idle entries. */
struct sleep_counts {
	uint64_t sleeps, entries;
};

static struct sleep_counts look(const struct gen_child *sleeps, const struct idle_log *log)
{
	struct duty_usage usage = {0};

	duty_read(sleeps, &usage);
	return (struct sleep_counts){.sleeps = usage.cycles, .entries = idle_log_count(log)};
}

/*
 * Runs source passive of `subtick wake` while a task on the core sleeps and wakes at a known rate.
 * Each timer of the sleeping task ends an idle period. There must be at most as many idle exits as
 * idle entries, which a BPF program of the test counts. tests/truth/wake_passive.c judges the
 * number of wake-ups by timers.
 */
static void test_passive(void)
{
	const char *args[] = {"wake",	"--source", "passive", "-C", cpu_text,
			      "--json", "1",	    "1",       NULL};
	struct duty_opts opts = {.cpu = cpu, .duty = 0.01, .period_ns = live_period(NAP_NS)};
	struct sleep_counts before, after;
	double seen, timers;
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
	seen = live_number(root, "requested_total");
	timers = live_number(root, "taken_total");
	live_idle_ok(cpu, seen > 0, "passive: sees idle exits without load of its own (%.0f)",
		     seen);
	live_ok(seen <= (double)(after.entries - before.entries) + 1,
		"passive: %.0f exits from idle, which was entered %llu times", seen,
		(unsigned long long)(after.entries - before.entries));
	live_ok(timers <= seen, "passive: no more of them than exits");
	json_decref(root);
}

static void test_prewake(void)
{
	json_t *root = run("timer,remote");

	live_ok(live_number(root, "requested_total") == 2 * ASKED, "both sources: points of each");
	/* Pre-wake needs points of both sources in one idle state. A busy core has few points. */
	live_idle_ok(cpu, json_array_size(json_object_get(root, "prewake")) >= 1,
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
	test_source("timer");
	test_source("remote");
	test_prewake();
	test_busy();
	test_two_cores();
	test_passive();
	unlink(points_path);
	return live_done();
}
