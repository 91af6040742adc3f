/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources that read a counter of unhalted cycles, where there is one: busy against that counter. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "duty.h"
#include "instructions.h"
#include "live.h"
#include "subtick/cpu_load.h"
#include "truth.h"

/*
 * With 16 ns an instruction the event counts at 62.5 MHz, the rate of the generic counter, and it
 * stands still while the core is halted: unhalted cycles at a constant rate.
 */
#define EVENT	  "r8"
#define WINDOW_MS 2000
#define BOUND	  0.001 /* a tenth of a point */

static const char *const names[] = {"perf-tsc", "perf-calibrated", "bpf-pmu"};

#define NR_SOURCES (sizeof(names) / sizeof(names[0]))

static struct cpu_load *open_source(const char *name)
{
	struct cpu_load_opts opts = {.size = sizeof(opts), .source = name, .event = EVENT};
	struct cpu_load *load;

	if (cpu_load_open(&load, &opts))
		live_fail_all("%s: %s", name, cpu_load_strerror());
	return load;
}

/* Reads the counter around the source, so that the middle is the source's own moment. */
static double update(struct cpu_load *load, int fd)
{
	uint64_t before = instructions_read(fd);

	cpu_load_update(load);
	return (double)(before + instructions_read(fd)) / 2.0;
}

static void check_load(struct cpu_load *const loads[NR_SOURCES], int fd, double duty,
		       uint64_t period_ms)
{
	struct truth_duty_opts opts = {
		.cpu = 0, .duty = duty, .period_ns = period_ms * NSEC_PER_MSEC};
	struct gen_child child = {0};
	double first[NR_SOURCES];

	if (duty > 0.0)
		truth_duty_start(&opts, &child);
	live_sleep_ms(50);
	for (size_t i = 0; i < NR_SOURCES; i++)
		first[i] = update(loads[i], fd);
	live_sleep_ms(WINDOW_MS);
	for (size_t i = 0; i < NR_SOURCES; i++) {
		double counted = update(loads[i], fd) - first[i], truth;
		struct cpu_load_split split;

		cpu_load_get_split(loads[i], 0, &split);
		truth = counted * truth_instruction_ns() / (double)split.window_ns;
		/* It was named by hand, so that nobody can know its rate. */
		live_ok(fabs(split.busy - truth) <= BOUND && split.flags == CPU_LOAD_NOT_CONSTANT,
			"%s, %.0f %% of %llu ms: busy %.3f %%, executed %.3f %%, flags %#x",
			names[i], duty * 100.0, (unsigned long long)period_ms, split.busy * 100.0,
			truth * 100.0, split.flags);
	}
	gen_child_stop(&child);
}

int main(void)
{
	struct cpu_load *loads[NR_SOURCES];
	int fd;

	truth_begin(1);
	truth_urgent();
	fd = instructions_open(0);
	for (size_t i = 0; i < NR_SOURCES; i++)
		loads[i] = open_source(names[i]);
	check_load(loads, fd, 0.30, 10);
	check_load(loads, fd, 0.70, 4);
	check_load(loads, fd, 0.99, 20);
	check_load(loads, fd, 0.01, 33);
	check_load(loads, fd, 0.0, 0);
	for (size_t i = 0; i < NR_SOURCES; i++)
		cpu_load_destroy(loads[i]);
	return live_done();
}
