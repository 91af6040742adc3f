/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the repeatability of `subtick crit`: the spread of its figures over 20 runs per engine,
 * and the cost of reading the clock.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "bench.h"
#include "present/crit.h"
#include "host/cpu.h"

#define RUNS 20

struct figure {
	const char *name;
	double value[RUNS];
};

/*
 * Prints the range of a figure over all runs, in ns and relative to the median. The target of
 * repeatability is a range of at most 1 ns, or of at most 5 % of the median.
 */
static void show(const char *engine, enum crit_op op, struct figure *figure, double unit_ns,
		 json_t *result)
{
	struct crit_spread all = crit_spread_of(figure->value, RUNS);
	struct bench_spread half = bench_spread(figure->value, all.rounds);
	double range_ns = (all.high - all.low) * unit_ns,
	       relative = all.mid > 0 ? range_ns / (all.mid * unit_ns) : 0;
	bool met = range_ns <= 1 || relative <= 0.05;
	char key[64];

	if (!all.rounds)
		return;
	printf("  %-7s %-9s %-7s %9.3f ns   quartiles %.3f-%.3f   range %.3f ns, %.0f%%   target "
	       "%s\n",
	       engine, crit_op_names[op], figure->name, all.mid * unit_ns, half.low * unit_ns,
	       half.high * unit_ns, range_ns, relative * 100, met ? "met" : "missed");
	snprintf(key, sizeof(key), "%s_%s_%s", engine, crit_op_names[op], figure->name);
	json_object_set_new(result, key,
			    json_pack("{s:f,s:f,s:b}", "median_ns", all.mid * unit_ns, "range_ns",
				      range_ns, "met", met));
}

static bool bench_engine(const char *name, json_t *result)
{
	struct crit_opts opts = {
		.engine = name, .nr_samples = 10000, .nr_highest = 100, .rounds = 5};
	struct figure median[CRIT_NR_OPS], batch[CRIT_NR_OPS];
	double unit_ns = strcmp(name, "module") ? 1 : 1e9 / (double)cycles_hz();
	double clock[RUNS];
	struct crit_engine *engine;
	struct err err = {0};

	if (crit_open(&opts, &engine, &err)) {
		printf("  %-7s %s\n", name, err.what);
		return false;
	}
	for (int run = 0; run < RUNS; run++) {
		struct crit_result rounds;

		if (crit_run(engine, &opts, "", &rounds, &err)) {
			printf("  %-7s %s\n", name, err.what);
			crit_close(engine, NULL);
			return false;
		}
		for (int op = 0; op < CRIT_NR_OPS; op++) {
			median[op].value[run] = CRIT_FIGURE(&rounds, op, median).mid;
			batch[op].value[run] = CRIT_FIGURE(&rounds, op, batch).mid;
		}
		clock[run] = rounds.rounds[0].clock_ns;
		crit_result_free(&rounds);
	}
	crit_close(engine, NULL);
	for (int op = 0; op < CRIT_NR_OPS; op++) {
		median[op].name = "median";
		batch[op].name = "batch";
		show(name, op, &median[op], unit_ns, result);
		show(name, op, &batch[op], unit_ns, result);
	}
	if (!isnan(clock[0]))
		printf("  two clock reads: %.1f ns\n", crit_spread_of(clock, RUNS).mid);
	return true;
}

int main(int argc, char **argv)
{
	json_t *result = json_object();
	bool json = argc > 1 && !strcmp(argv[1], "--json"), any;

	if (json && !freopen("/dev/null", "w", stdout))
		return 1;
	printf("%d runs of 5 rounds of 10000 samples; one step of the clock is %.2f ns\n", RUNS,
	       1e9 / (double)cycles_hz());
	any = bench_engine("bpf", result);
	any = bench_engine("module", result) || any;
	if (json)
		json_dumpf(result, stderr, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	json_decref(result);
	return any ? 0 : 77;
}
