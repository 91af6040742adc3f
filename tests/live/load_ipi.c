/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sampling sends no interrupt to the sampled cores. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "subtick/cpu_load.h"

#define ROUNDS 7
#define HZ     100

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

/* Function calls that arrive in half a second in which we sample @updates times. */
static long long calls_during(struct cpu_load *load, int cpu, int updates)
{
	long long before = function_calls(cpu);

	for (int i = 0; i < HZ / 2; i++) {
		if (i < updates)
			cpu_load_update(load);
		live_sleep_ms(1000 / HZ);
	}
	return function_calls(cpu) - before;
}

int main(void)
{
	long long with, without, least_with = 1LL << 40, least_without = 1LL << 40;
	struct cpu_load *load;
	int cpu, other;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	if (function_calls(cpu) < 0)
		live_skip_all("/proc/interrupts shows no function-call interrupts");
	live_needs((const char *const[]){"load", "--source", "bpf", "0.01", "1", NULL});
	load = live_source("bpf", true);
	live_pin(other);
	/*
	 * Others send such interrupts too, so the least of several rounds is compared: were each of
	 * the 50 samples an interrupt, not one round with sampling could stay below 50.
	 */
	for (int i = 0; i < ROUNDS; i++) {
		without = calls_during(load, cpu, 0);
		with = calls_during(load, cpu, HZ / 2);
		if (without < least_without)
			least_without = without;
		if (with < least_with)
			least_with = with;
	}
	live_ok(least_with <= least_without + 5,
		"sampling at %d Hz raises no function-call interrupt on CPU %d: %lld with, %lld "
		"without, in half a second",
		HZ, cpu, least_with, least_without);
	cpu_load_destroy(load);
	return live_done();
}
