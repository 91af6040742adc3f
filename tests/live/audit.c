/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the output and the exit codes of `subtick audit` on this kernel, also when a load process
 * is moved to another core.
 */
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "judge.h"
#include "live.h"
#include "host/kernel.h"

static char cpu_text[16];
/* value of CONFIG_HZ, or 0 if the kernel's configuration is not readable */
static int configured_hz;
/*
 * Tick accounting in the kernel's configuration, if the configuration is readable. audit must find
 * the same kind of accounting by measurement.
 */
static bool by_tick, by_tick_only;

static void read_config(void)
{
	struct kconfig config = {0};
	struct utsname name;
	char value[16];

	uname(&name);
	if (kconfig_open(&config, NULL, name.release))
		return;
	if (kconfig_value(&config, "HZ", value, sizeof(value)) == KCONFIG_VALUE)
		configured_hz = atoi(value);
	by_tick = kconfig_get(&config, "TICK_CPU_ACCOUNTING") == KCONFIG_YES;
	by_tick_only = by_tick && kconfig_get(&config, "IRQ_TIME_ACCOUNTING") == KCONFIG_NO;
	kconfig_close(&config);
}

/* Returns the row of @table in which @key has the value @name. */
static json_t *row_of(json_t *root, const char *table, const char *key, const char *name)
{
	json_t *list = json_object_get(root, table);

	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *row = json_array_get(list, i);

		if (!strcmp(json_string_value(json_object_get(row, key)) ?: "", name))
			return row;
	}
	return NULL;
}

static bool is_svg(const char *path)
{
	char head[5] = "", tail[8] = "";
	FILE *file = fopen(path, "r");
	bool whole = false;

	if (!file)
		return false;
	if (fread(head, 1, 4, file) == 4 && !fseek(file, -7, SEEK_END) &&
	    fread(tail, 1, 7, file) == 7)
		whole = !strcmp(head, "<svg") && !strcmp(tail, "</svg>\n");
	fclose(file);
	return whole;
}

/*
 * Checks that the reported HZ equals CONFIG_HZ. audit reports an HZ of null if the kernel accounts
 * CPU time at each switch.
 */
static void claim_ticks(struct verdict *verdict, json_t *root)
{
	json_t *row = row_of(root, "sets", "set", "user+system: user, nice, system");
	double hz = live_number(root, "tick_hz"), reads = live_number(row, "read_hz");

	verdict_always(verdict, !root || reads > 0.0, "the columns were read %.0f times a second", reads);
	verdict_figure(verdict, !by_tick || !isnan(hz),
		       "the tick of a tick-accounting kernel is found: %.0f Hz", hz);
	if (configured_hz)
		verdict_figure(verdict, isnan(hz) || hz == configured_hz,
			       "the inferred HZ is the configured %d: %.0f", configured_hz, hz);
	else
		verdict_unknown(verdict, "the kernel's configuration is not known",
				"the inferred HZ is the configured one");
}

static void claim_delays(struct verdict *verdict, json_t *root)
{
	json_t *row, *rows = json_object_get(root, "delays");
	bool slept = true, ran = true;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		double thread_ns = live_number(row, "thread_clock_ns");

		slept = slept && live_number(row, "real_per_iteration_ns") >=
					 live_number(row, "delay_ns");
		ran = ran && thread_ns > 0.0 && thread_ns <= live_number(row, "real_ns") &&
		      live_number(row, "iterations_total") > 0.0;
	}
	/* If the JSON object is missing, measure() reports this error. */
	verdict_always(verdict,
		       !root || (double)i == live_number(root, "asked_delays_total"),
		       "each delay has a row");
	verdict_always(verdict, slept, "no loop is shorter than its delay");
	verdict_always(verdict, ran, "no thread runs longer than its loop takes");
}

static void claim_softirqs(struct verdict *verdict, json_t *root, const char *load)
{
	double on_idle = live_number(row_of(root, "loads", "load", load), "softirq_on_idle_ratio");

	if (isnan(on_idle))
		verdict_unknown(verdict, "this machine cannot make that load",
				"load %s runs softirqs on idle", load);
	else
		verdict_figure(verdict, live_realtime() ? on_idle < 0.01 : on_idle > 0.01,
			       "load %s runs softirqs on idle, except on PREEMPT_RT: %.1f %%", load,
			       on_idle * 100.0);
}

static void check_exit(const char *limit, int code)
{
	char plot[] = "/tmp/subtick-audit-XXXXXX";
	struct live_run run;

	close(mkstemp(plot));
	live_run(ARGS("audit", "delays", "--delays", "1", "--budget",
		      live_emulated() ? "10s" : "3s", "--cpu", cpu_text, "--fail-over", limit,
		      "--plot", plot),
		 &run);
	live_ok(run.exit_code == code, "--fail-over %s exits with %d: %s", limit, run.exit_code,
		strtok(run.err, "\n") ?: "");
	live_ok(is_svg(plot), "--plot writes a whole SVG file");
	unlink(plot);
	live_run_free(&run);
}

/* Moves the children of process @parent to @cpu, as the kernel does when a core goes offline. */
static int drive_away(pid_t parent, int cpu)
{
	char path[64], text[1024];
	cpu_set_t one;
	FILE *file;
	int pid, moved = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	file = fopen(path, "r");
	if (!file)
		return 0;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (fgets(text, sizeof(text), file))
		for (char *at = text; (pid = strtol(at, &at, 10)) > 0;)
			moved += !sched_setaffinity(pid, sizeof(one), &one);
	fclose(file);
	return moved;
}

/* Checks that audit prints no figures after its load processes were moved to another core. */
static void check_strayed(int other)
{
	static char text[1 << 20];
	int fd, code, moved = 0;
	pid_t pid = live_start(ARGS("audit", "sources", "--json", "--cpu", cpu_text, "--phase",
				    "0ms", "--budget", "4s"),
			       &fd);

	/*
	 * Only some child processes of audit generate load, but the test moves all child processes.
	 */
	for (int i = 0; i < 20 && !moved; i++) {
		live_sleep_ms(100);
		moved = drive_away(pid, other);
	}
	/*
	 * A child process may bind itself to its core after the first move, so the test moves all
	 * child processes again.
	 */
	live_sleep_ms(200);
	drive_away(pid, other);
	code = live_stop(pid, 0, fd, text, sizeof(text));
	if (moved)
		live_ok(code == 77 && !*text, "a load that left its core gives no figures: exit %d",
			code);
	else
		live_skip("a load that left its core gives no figures",
			  "this kernel does not list children (CONFIG_PROC_CHILDREN)");
}

/* Returns the JSON object of @experiment from the output of subtick. */
static json_t *object_of(const char *lines, const char *experiment)
{
	for (const char *line = lines; line && *line;) {
		size_t len = strcspn(line, "\n");
		json_t *root = json_loadb(line, len, 0, NULL);
		const char *got = json_string_value(json_object_get(root, "experiment"));

		if (got && !strcmp(got, experiment))
			return root;
		json_decref(root);
		line += len + (line[len] == '\n');
	}
	return NULL;
}

/* Runs all three experiments of audit. tests/truth/audit.c judges their figures in virtual time. */
static void measure(void *arg, struct verdict *verdict)
{
	static const char *const experiments[] = {"ticks", "delays", "sources", "verdict"};
	json_t *roots[ARRAY_SIZE(experiments)];
	const char *regime;
	struct live_run run;

	live_run(ARGS("audit", "--json", "--cpu", cpu_text, "--budget",
		      live_emulated() ? "12s" : "24s"),
		 &run);
	for (size_t j = 0; j < ARRAY_SIZE(experiments); j++) {
		roots[j] = object_of(run.out, experiments[j]);
		verdict_count(verdict,
			      roots[j] && live_number(roots[j], "window_ns") > 0.0 &&
				      json_is_object(json_object_get(roots[j], "quality")),
			      "audit without an experiment gives %s", experiments[j]);
	}
	claim_ticks(verdict, roots[0]);
	claim_delays(verdict, roots[1]);
	claim_softirqs(verdict, roots[2], "softirq");
	claim_softirqs(verdict, roots[2], "xdp-drop");
	regime = json_string_value(json_object_get(roots[3], "regime")) ?: "";
	if (by_tick_only)
		verdict_figure(verdict, !strcmp(regime, "tick"),
			       "the regime is the configured one: \"%s\"", regime);
	else
		verdict_unknown(verdict, "the kernel's configuration tells no regime for certain",
				"the regime is the configured one: \"%s\"", regime);
	for (size_t j = 0; j < ARRAY_SIZE(experiments); j++)
		json_decref(roots[j]);
	live_run_free(&run);
}

int main(void)
{
	/*
	 * audit loads one core and reads /proc/stat on another core, so a disturbance on any core
	 * counts. audit itself repeats a probe during which other tasks used more than 15 % of the
	 * core.
	 */
	struct judge_opts opts = {.cpu = WITNESS_ALL_CPUS,
				  .limits = {.taken = 0.15,
					     .waited = -1,
					     .own_forks = UINT_MAX,
					     .own_irqs = UINT_MAX,
					     .own_interrupts = true},
				  .tries = 2, /* each attempt to measure takes 24 s */
				  .measure = measure};
	int cpu, other;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs(ARGS("load", "--source", "bpf", "0.01", "1"));
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	read_config();
	check_exit("0pp", 2);
	check_exit("100pp", 0);
	check_strayed(other);
	judge(&opts);
	return live_done();
}
