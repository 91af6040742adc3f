/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks that reading `subtick load` at a high rate (sampling) sends no interrupt to the measured
 * cores.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "judge.h"
#include "live.h"

#define ROUNDS	5
#define SAMPLES 200 /* number of samples in a tenth of a second, which is one round */
#define STEPS	10
/*
 * Allowed number of function-call interrupts in a round: an interrupt per twenty samples. Other
 * programs cause up to two interrupts in a round.
 */
#define SLACK (SAMPLES / 20)

struct setup {
	struct subtick *load;
	int cpu;
	uint64_t sample_ns; /* CPU time used by sampling */
	uint64_t burn_ns;   /* CPU time of one call to burn() */
};

/*
 * Returns the number of function-call interrupts of @cpu, or -1. The row of /proc/interrupts is
 * "IPI1: … Function call" on arm64 and "CAL:" on x86.
 */
static long long function_calls(int cpu)
{
	FILE *file = fopen("/proc/interrupts", "r");
	long long count = -1;
	char line[65536];

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':');

		if (!at || !strcasestr(line, "function call"))
			continue;
		at++;
		for (int i = 0; i <= cpu; i++)
			count = strtoll(at, &at, 10);
	}
	fclose(file);
	return count;
}

/* Counts function-call interrupts during a round, in which @work runs every 10 ms. */
static long long calls_during(void (*work)(struct setup *), struct setup *setup)
{
	long long before = function_calls(setup->cpu);

	for (int i = 0; i < STEPS; i++) {
		work(setup);
		live_sleep_ms(10);
	}
	return function_calls(setup->cpu) - before;
}

static void sample(struct setup *setup)
{
	uint64_t begin = clock_mono_ns();

	for (int i = 0; i < SAMPLES / STEPS; i++)
		live_update(setup->load);
	setup->sample_ns += clock_mono_ns() - begin;
}

/* Keeps the CPU busy as long as sampling does. */
static void burn(struct setup *setup)
{
	uint64_t end = clock_mono_ns() + setup->burn_ns;

	while (clock_mono_ns() < end)
		;
}

/*
 * Counts function-call interrupts in alternating rounds with and without sampling. The test judges
 * the round with the fewest interrupts: if sampling sent interrupts, each round with sampling would
 * have some, but interrupts by other programs come only in some rounds.
 *
 * The tick of a busy core sends some function-call interrupts, to wake an idle core that balances
 * the load. In the rounds without sampling, a busy loop uses the same CPU time as sampling.
 */
static void measure(void *arg, struct verdict *verdict)
{
	long long with, without, least_with = LLONG_MAX, least = LLONG_MAX, most = 0;
	struct setup *setup = arg;

	for (int i = 0; i < ROUNDS; i++) {
		setup->sample_ns = 0;
		with = calls_during(sample, setup);
		setup->burn_ns = setup->sample_ns / STEPS;
		without = calls_during(burn, setup);
		least_with = with < least_with ? with : least_with;
		least = without < least ? without : least;
		most = without > most ? without : most;
	}
	if (most - least > SLACK)
		verdict_disturbed(verdict,
				  "others sent %lld to %lld function-call interrupts per round, "
				  "which differ by more than %d",
				  least, most, SLACK);
	verdict_count(verdict, least_with <= most + SLACK,
		      "%d samples raise no function-call interrupt on CPU %d: at least %lld with, "
		      "%lld to %lld without, in a tenth of a second",
		      SAMPLES, setup->cpu, least_with, least, most);
}

int main(void)
{
	struct setup setup;
	int other;

	if (!live_two_cpus(&setup.cpu, &other))
		live_skip_all("needs two CPUs");
	if (function_calls(setup.cpu) < 0)
		live_skip_all("/proc/interrupts shows no function-call interrupts");
	live_needs((const char *const[]){"load", "--source", "bpf", "0.01", "1", NULL});
	setup.load = live_source("bpf", true);
	live_pin(other);
	judge(measure, &setup);
	subtick_close(setup.load);
	return live_done();
}
