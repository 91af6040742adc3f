/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sampling sends no interrupt to the sampled cores. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "live.h"
#include "subtick/cpu_load.h"

#define SAMPLES 1000 /* in half a second */
/*
 * Others send such interrupts too, some ten in half a second at times. So many samples are taken
 * that the interrupts would be more than that if only one sample in twenty raised one.
 */
#define SLACK (SAMPLES / 20)

/* Function-call interrupts of @cpu so far, or -1: arm64 "IPI1: … Function call", x86 "CAL:". */
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

/* Function calls that arrive in half a second in which we sample @samples times. */
static long long calls_during(struct cpu_load *load, int cpu, int samples)
{
	long long before = function_calls(cpu);

	for (int i = 0; i < 50; i++) {
		for (int k = 0; k < samples / 50; k++)
			cpu_load_update(load);
		live_sleep_ms(10);
	}
	return function_calls(cpu) - before;
}

struct setup {
	struct cpu_load *load;
	int cpu;
};

/* How many the others send is seen without sampling, before and after. */
static void measure(void *arg, struct verdict *verdict)
{
	const struct setup *setup = arg;
	long long before = calls_during(setup->load, setup->cpu, 0);
	long long with = calls_during(setup->load, setup->cpu, SAMPLES);
	long long after = calls_during(setup->load, setup->cpu, 0);
	long long most = before > after ? before : after;

	if (most > SLACK)
		verdict_disturbed(verdict,
				  "others sent %lld and %lld function-call interrupts, %d are "
				  "allowed",
				  before, after, SLACK);
	verdict_count(verdict, with <= most + SLACK,
		      "%d samples raise no function-call interrupt on CPU %d: %lld with, %lld and "
		      "%lld without, in half a second",
		      SAMPLES, setup->cpu, with, before, after);
}

int main(void)
{
	struct setup setup;
	struct judge_opts opts = {
		.limits = {.taken = INFINITY, .waited = -1}, .measure = measure, .arg = &setup};
	int other;

	if (!live_two_cpus(&setup.cpu, &other))
		live_skip_all("needs two CPUs");
	if (function_calls(setup.cpu) < 0)
		live_skip_all("/proc/interrupts shows no function-call interrupts");
	live_needs((const char *const[]){"load", "--source", "bpf", "0.01", "1", NULL});
	opts.cpu = setup.cpu;
	setup.load = live_source("bpf", true);
	live_pin(other);
	judge(&opts);
	cpu_load_destroy(setup.load);
	return live_done();
}
