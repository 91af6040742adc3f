/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the latency from launch to user code in `subtick wake` with cyclictest, on one core at
 * the same time.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judge.h"
#include "live.h"

/*
 * Number of loops, chosen so that cyclictest and `subtick wake` run for the same time. If
 * cyclictest ran alone, the core would sleep longer and wake up more slowly.
 */
#define LOOPS 2100
#define BOUND 0.20

static int cpu, other;
static char cpu_text[16], points_path[64];

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), by_value);
	return nr ? values[nr / 2] : NAN;
}

/*
 * Starts cyclictest. Without --default-system, cyclictest writes /dev/cpu_dma_latency, which
 * disables idle states. Do not use a period of 1000 us, because every fourth wake-up would have the
 * same phase relative to the tick.
 */
static FILE *cyclictest_start(void)
{
	char command[160];

	snprintf(command, sizeof(command),
		 "cyclictest --default-system -N -v -m -t1 -a %d -p 1 -i 1037 -l %d 2>/dev/null",
		 cpu, LOOPS);
	return popen(command, "r");
}

static double cyclictest_median(FILE *out)
{
	static double values[LOOPS];
	unsigned long long value;
	char line[128];
	size_t nr = 0;

	while (out && fgets(line, sizeof(line), out))
		if (nr < LOOPS && sscanf(line, " %*u: %*u: %llu", &value) == 1)
			values[nr++] = value;
	if (out)
		pclose(out);
	return median(values, nr);
}

/*
 * Returns the median latency that `subtick wake` measures. The median includes wake-ups at which
 * the core was not idle, because the median of cyclictest includes such wake-ups.
 */
static double ours(void)
{
	const char *args[] = {"wake", "-C",   cpu_text, "--from",   "1100us",	 "--to",   "1100us",
			      "-n",   "2000", "-b",	"--points", points_path, "--json", NULL};
	static double values[2000];
	json_error_t error;
	json_t *file, *point;
	size_t i, nr = 0;

	json_decref(live_json(args));
	file = json_load_file(points_path, 0, &error);
	json_array_foreach(json_object_get(file, "points"), i,
			   point) if (nr < 2000 && live_number(point, "user_ns") > 0) values[nr++] =
		live_number(point, "user_ns");
	json_decref(file);
	return median(values, nr);
}

/*
 * Runs `subtick wake` and cyclictest at the same time, so that other work and the overhead of each
 * tool affect both tools.
 */
static void measure(void *arg, struct verdict *verdict)
{
	FILE *out = cyclictest_start();
	double mine = ours(), theirs = cyclictest_median(out);

	verdict_figure(
		verdict, fabs(mine / theirs - 1.0) <= BOUND,
		"launch to user code: subtick wake %.0f ns, cyclictest %.0f ns, within %.0f %%",
		mine, theirs, BOUND * 100.0);
}

int main(void)
{
	/*
	 * A median of thousands of points hardly changes if other tasks use less than a tenth of
	 * the core.
	 */
	struct judge_opts opts = {
		.limits = {.taken = 0.1, .waited = -1, .own_forks = UINT_MAX, .own_irqs = UINT_MAX},
		.measure = measure};

	if (geteuid())
		live_skip_all("needs root");
	if (live_emulated())
		live_skip_all("an emulated machine's times are not its own");
	if (system("command -v cyclictest >/dev/null"))
		live_skip_all("no cyclictest (package rt-tests)");
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	snprintf(points_path, sizeof(points_path), "/tmp/subtick-cyclictest-%d.json", getpid());
	live_pin(other);
	opts.cpu = cpu;
	judge(&opts);
	unlink(points_path);
	return live_done();
}
