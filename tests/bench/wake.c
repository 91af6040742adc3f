/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures `subtick wake`: the cost of a measured wake-up (point), the number of points per second,
 * and the accuracy of latencies with a known delay.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "bench.h"
#include "measure/wake/probe.h"
#include "measure/wake/run.h"
#include "host/cpu.h"

#define DELAY_ROUNDS 15
#define DELAY_POINTS 300
#define DELAY_TRIES  20
/*
 * Accuracy of measured delays of 1 to 2 µs that the waltr thesis (docs/methods/wake.md) requires.
 */
#define PRECISION 0.95

static unsigned int nr_cpus;
static struct cpuset online;

struct outcome {
	double seconds;
	uint64_t asked;
	/* summary of the latencies on the first measured core */
	struct wake_summary summary;
	struct wake_summary room; /* time from the timer's expiry to its handler */
	/* share of points whose latency lies between the timer's expiry and its handler */
	double between;
	struct wake_calibration calibration;
};

/*
 * Checks the latency of each point. The timer is due at the launch time plus the delay, and the
 * timer's handler runs when the core is awake. The latency of a point counts from the launch time.
 * The latency must be at least the delay, and at most the time from the launch time to the timer's
 * handler.
 */
static void judge_points(const struct wake_worker *w, uint32_t delay_ns, struct outcome *o)
{
	double *latency = malloc((w->nr + 1) * sizeof(*latency));
	double *room = malloc((w->nr + 1) * sizeof(*room));
	size_t nr = 0, between = 0;

	for (size_t i = 0; i < w->nr && latency && room; i++) {
		const struct wake_point *p = &w->points[i];

		if (p->reject != WAKE_TAKEN)
			continue;
		between += p->latency_ns >= (int32_t)delay_ns &&
			   (uint32_t)p->latency_ns <= p->expire_ns;
		room[nr] = (double)p->expire_ns - delay_ns;
		latency[nr++] = p->latency_ns;
	}
	wake_summarize(latency, nr, &o->summary);
	wake_summarize(room, nr, &o->room);
	o->between = nr ? (double)between / (double)nr : 0.0;
	free(latency);
	free(room);
}

static bool run_points(const struct wake_plan *opts, struct outcome *ret_outcome)
{
	struct wake_probe_opts probe_opts = {.nr_cpus = nr_cpus, .points = true};
	struct wake_probe probe;
	struct wake_run run;
	struct err err;
	uint64_t start;

	if (wake_probe_open(&probe, &probe_opts, &err)) {
		fprintf(stderr, "%s\n", err.what);
		return false;
	}
	if (wake_run_open(&run, opts, &probe, &err)) {
		wake_probe_close(&probe);
		return false;
	}
	wake_run_start(&run, &err);
	/*
	 * The number of measured wake-ups (points) per second excludes the time of the calibration.
	 */
	while (!wake_run_done(&run) && !atomic_load(&run.finished))
		usleep(200);
	start = clock_mono_ns();
	wake_run_join(&run, false, &err);
	ret_outcome->seconds = (double)(clock_mono_ns() - start) / 1e9;
	ret_outcome->asked = wake_run_done(&run);
	ret_outcome->calibration = run.workers[0].calibration;
	judge_points(&run.workers[0], opts->delay_ns, ret_outcome);
	wake_run_close(&run);
	wake_probe_close(&probe);
	return true;
}

static struct wake_plan points_of(unsigned int cpu, uint64_t distance_ns, uint32_t points)
{
	struct wake_plan opts = {.sweep = {distance_ns, distance_ns, 1.1, points},
				 .sources = 1u << WAKE_TIMER};

	cpuset_add(&opts.cpus, cpu);
	return opts;
}

static bool bench_points(unsigned int cpu, json_t *result)
{
	struct wake_plan one = points_of(cpu, 50000, 8000), all = one;
	struct outcome a, b;

	all.cpus = online;
	if (!run_points(&one, &a) || !run_points(&all, &b))
		return false;
	printf("stamp on the way out of idle: %u ns (+-%u), clock read %u ns\n",
	       a.calibration.stamp.median_ns, a.calibration.stamp.spread_ns,
	       a.calibration.clock_read_ns);
	printf("points per second at a launch distance of 50 us: %.0f on one core, %.0f on all "
	       "%u\n",
	       (double)a.asked / a.seconds, (double)b.asked / b.seconds, cpuset_count(&online));
	printf("time per point beyond its distance: %.1f us\n",
	       a.seconds * 1e6 / (double)a.asked - 50.0);
	json_object_set_new(result, "points",
			    json_pack("{s:i,s:i,s:f,s:f}", "overhead_ns",
				      (int)a.calibration.stamp.median_ns, "overhead_spread_ns",
				      (int)a.calibration.stamp.spread_ns, "per_second",
				      (double)a.asked / a.seconds, "per_second_all",
				      (double)b.asked / b.seconds));
	return true;
}

/* Result of one round of points with a known delay. */
struct delay_result {
	double median_ns, between, room_ns;
};

/*
 * Measures one round of points with a known delay. Repeats the round if other work keeps the core
 * busy, because a point is measured only on an idle core.
 */
static bool measure_delay(unsigned int cpu, uint32_t delay_ns, struct delay_result *ret)
{
	struct wake_plan opts = points_of(cpu, 150000, DELAY_POINTS);
	struct outcome o;

	opts.delay_ns = delay_ns;
	for (int i = 0; i < DELAY_TRIES; i++) {
		if (!run_points(&opts, &o))
			return false;
		if (o.summary.count >= DELAY_POINTS / 2) {
			*ret = (struct delay_result){o.summary.median_ns, o.between,
						     o.room.median_ns};
			return true;
		}
	}
	fprintf(stderr, "CPU %u does not idle\n", cpu);
	return false;
}

/*
 * Measures wake-ups by a timer that expires a known delay after the launch time that `subtick wake`
 * assumes, and checks the latencies in two ways. Check 1: differences of measured delays must equal
 * differences of the known delays. Constant errors cancel out in differences. Check 2: each latency
 * must lie between the timer's expiry and the timer's handler. Unlike check 1, check 2 detects
 * constant errors of the latencies.
 */
static bool bench_delay(unsigned int cpu, json_t *result, bool *ret_passed)
{
	static const uint32_t delays[] = {0, 1000, 2000, 5000};
	struct delay_result found[4][DELAY_ROUNDS];
	json_t *rows = json_array();

	*ret_passed = true;

	for (int r = 0; r < DELAY_ROUNDS; r++)
		for (int d = 0; d < 4; d++)
			if (!measure_delay(cpu, delays[d], &found[d][r]))
				return false;
	printf("a known delay found again (medians of %d points, %d rounds in turns)\n",
	       DELAY_POINTS, DELAY_ROUNDS);
	for (int d = 0; d < 4; d++) {
		double diff[DELAY_ROUNDS], between[DELAY_ROUNDS], room[DELAY_ROUNDS];
		double precision = 1.0, inside, wide;
		struct bench_spread spread;
		bool good;

		for (int r = 0; r < DELAY_ROUNDS; r++) {
			diff[r] = found[d][r].median_ns - found[0][r].median_ns;
			between[r] = found[d][r].between;
			room[r] = found[d][r].room_ns;
		}
		spread = bench_spread(diff, DELAY_ROUNDS);
		inside = bench_spread(between, DELAY_ROUNDS).median;
		wide = bench_spread(room, DELAY_ROUNDS).median;
		if (d)
			precision = 1.0 - fabs(spread.median - delays[d]) / delays[d];
		good = precision > PRECISION && inside > PRECISION;
		*ret_passed &= good;
		printf("  %5u ns: found %6.0f (%.0f-%.0f), precision %.1f %%; %.1f %% between "
		       "expiry "
		       "and handler, %.0f ns apart: %s\n",
		       delays[d], spread.median, spread.low, spread.high, precision * 100.0,
		       inside * 100.0, wide, good ? "passed" : "FAILED, over 95 % of both wanted");
		json_array_append_new(rows, json_pack("{s:i,s:f,s:f,s:f,s:f,s:b}", "delay_ns",
						      (int)delays[d], "found_ns", spread.median,
						      "precision_ratio", precision, "between_ratio",
						      inside, "room_ns", wide, "passed", good));
	}
	json_object_set_new(result, "delay", rows);
	return true;
}

/*
 * True if the benchmark of wake must run @part. Without the name of a part among the arguments, all
 * parts run.
 */
static bool wanted(const char *part, int argc, char **argv)
{
	bool named = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], part))
			return true;
		named |= strcmp(argv[i], "--json") != 0;
	}
	return !named;
}

int main(int argc, char **argv)
{
	bool json = argc > 1 && !strcmp(argv[1], "--json");
	json_t *result = json_object();
	struct cpuset possible;
	unsigned int cpu;
	bool passed = true;
	int rc = 0;

	if (geteuid() || cpu_set(NULL, CPU_ONLINE, &online, NULL) ||
	    cpu_set(NULL, CPU_POSSIBLE, &possible, NULL) || cpuset_count(&online) < 2) {
		fprintf(stderr, "needs root and two CPUs\n");
		return 77;
	}
	nr_cpus = cpuset_end(&possible);
	cpu = cpuset_end(&online) - 1;
	if (json && !freopen("/dev/null", "w", stdout))
		return 1;
	if ((wanted("points", argc, argv) && !bench_points(cpu, result)) ||
	    (wanted("delay", argc, argv) && !bench_delay(cpu, result, &passed)))
		rc = 1;
	if (json)
		json_dumpf(result, stderr, JSON_INDENT(2));
	json_decref(result);
	return rc || !passed;
}
