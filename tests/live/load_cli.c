/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests `subtick load` on this kernel: JSON keys and sums. tests/suites/cli judges the number of
 * windows and the CSV output.
 */
#include <math.h>
#include <string.h>

#include "live.h"

static void check_json(void)
{
	static const char *const keys[] = {
		"busy_ratio",		 "task_ratio",	    "hardirq_ratio", "softirq_on_idle_ratio",
		"softirq_on_task_ratio", "ksoftirqd_ratio", "poll_idle_ratio", "idle_ratio",
		"unknown_ratio",	 "closure_error_ratio", "idle_loop_ratio",
	};
	json_t *root = live_json(ARGS("load", "--json", "0.2", "1")), *cpu;
	double sum = 0.0, steal;

	if (!live_ok(root != NULL, "load --json gives one JSON object"))
		return;
	live_ok(!strcmp(json_string_value(json_object_get(root, "schema")) ?: "", "subtick.load/1"),
		"schema is subtick.load/1");
	live_ok(live_number(root, "window_ns") >= 0.19e9 && live_number(root, "time_unix_ns") > 1e18,
		"window and time are there");
	cpu = json_array_get(json_object_get(root, "cpus"), 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		double value = live_number(cpu, keys[i]);

		live_ok(value >= 0.0 && value <= 1.0, "%s is a ratio: %g", keys[i], value);
		if (strcmp(keys[i], "busy_ratio") && strcmp(keys[i], "closure_error_ratio"))
			sum += value;
	}
	steal = live_number(cpu, "steal_ratio");
	live_ok(json_object_get(cpu, "steal_ratio") != NULL, "steal_ratio is a ratio or null");
	sum += isnan(steal) ? 0.0 : steal;
	live_ok(fabs(sum - 1.0) < 0.005, "the parts sum to the window: %.6f", sum);
	json_decref(root);
}

static void check_compare(void)
{
	json_t *root = live_json(ARGS("load", "--json", "--compare", "0.5", "1")), *compare;

	compare = json_object_get(json_array_get(json_object_get(root, "cpus"), 0), "compare");
	live_ok(live_number(compare, "procstat_busy_ratio") >= 0.0 &&
			live_number(compare, "procidle_busy_ratio") >= 0.0 &&
			live_number(compare, "taskclock_busy_ratio") >= 0.0,
		"--compare has procstat, procidle and taskclock");
	live_ok(json_object_get(compare, "perf_tsc_busy_ratio") != NULL,
		"a source that is missing here is null, not absent");
	json_decref(root);
}

/* Returns the sum of @key over the rows of @table for CPU 0. */
static double sum_of(const json_t *root, const char *table, const char *key)
{
	double sum = 0.0;
	size_t i;
	json_t *row;

	json_array_foreach (json_object_get(root, table), i, row)
		if (live_number(row, "cpu") == 0.0)
			sum += live_number(row, key);
	return sum;
}

/*
 * Checks `subtick load --irq --tasks`: the times of interrupt lines sum to the hardirq time, and
 * the times of tasks sum to the task time. Stolen time is subtracted only from these two totals. An
 * interrupt between the reads of the hardirq time and of the lines counts only for the lines. An
 * interrupt that runs at the end of a window counts for the hardirq time, and for the lines only in
 * the next window. In a window of 0.5 s, the sum of the lines may be lower than the hardirq time by
 * 100 us, or higher by 5 ms plus the stolen time.
 */
static void check_who(void)
{
	json_t *root = live_json(ARGS("load", "--json", "--irq", "--tasks", "1000", "0.5", "1"));
	json_t *cpu = json_array_get(json_object_get(root, "cpus"), 0);
	double steal = live_number(cpu, "steal_ratio"), irqs, tasks;
	double hardirq = live_number(cpu, "hardirq_ratio");
	double task = live_number(cpu, "task_ratio") + live_number(cpu, "ksoftirqd_ratio");

	if (!live_ok(json_is_array(json_object_get(root, "irqs")) &&
			     json_is_array(json_object_get(root, "tasks")),
		     "--irq and --tasks give their tables"))
		return;
	irqs = sum_of(root, "irqs", "irq_ratio");
	tasks = sum_of(root, "tasks", "task_share_ratio");
	steal = isnan(steal) ? 0.0 : steal;
	live_figure(irqs >= hardirq - 2e-4 && irqs <= hardirq + steal + 0.01,
		"the lines sum up to the hardirq part: %.6f of %.6f, stolen %.6f", irqs, hardirq,
		steal);
	live_ok(tasks >= task - 1e-6 && tasks <= task + steal + 1e-6,
		"the tasks sum up to the task part: %.6f of %.6f, stolen %.6f", tasks, task, steal);
	live_ok(live_number(json_object_get(root, "quality"), "irq_lost_total") == 0.0,
		"every line found room");
	json_decref(root);
}

int main(void)
{
	struct live_run run;

	live_run(ARGS("load", "0.01", "1"), &run);
	if (run.exit_code == 77)
		live_skip_all("%s", run.err);
	live_ok(run.exit_code == 0, "load runs: %s", run.exit_code ? run.err : "ok");
	live_run_free(&run);
	check_json();
	check_compare();
	check_who();
	return live_done();
}
