/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the output and the exit codes of `subtick audit` on this kernel, also when a load process
 * is moved to another core.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "live.h"

static char cpu_text[16];
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

static void check_delays(json_t *root)
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
	live_ok((double)i == live_number(root, "requested_delays_total"), "each delay has a row");
	live_ok(slept, "no loop is shorter than its delay");
	live_ok(ran, "no thread runs longer than its loop takes");
}

static void check_softirqs(int cpu, json_t *root, const char *load)
{
	double on_idle =
		live_number(live_row(root, "loads", "load", load), "softirq_on_idle_ratio");

	if (isnan(on_idle))
		live_skip(load, "this machine cannot make that load");
	else
		live_idle_ok(cpu, live_realtime() ? on_idle < 0.01 : on_idle > 0.0,
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
	 * Move all child processes again, because a child process may bind itself to its core after
	 * the first move.
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

		if (!strcmp(live_text(root, "experiment"), experiment))
			return root;
		json_decref(root);
		line += len + (line[len] == '\n');
	}
	return NULL;
}

/* Runs all three experiments of audit. tests/truth/audit.c judges their figures in virtual time. */
static void check_experiments(int cpu)
{
	static const char *const experiments[] = {"ticks", "delays", "sources", "verdict"};
	json_t *roots[ARRAY_SIZE(experiments)], *set;
	struct live_run run;

	live_run(ARGS("audit", "--json", "--cpu", cpu_text, "--budget",
		      live_emulated() ? "12s" : "24s"),
		 &run);
	for (size_t j = 0; j < ARRAY_SIZE(experiments); j++) {
		roots[j] = object_of(run.out, experiments[j]);
		live_ok(roots[j] && live_number(roots[j], "window_ns") > 0.0 &&
				json_is_object(json_object_get(roots[j], "quality")),
			"audit without an experiment gives %s", experiments[j]);
	}
	set = live_row(roots[0], "sets", "set", "user+system: user, nice, system");
	live_ok(live_number(set, "read_hz") > 0.0, "the columns were read %.0f times a second",
		live_number(set, "read_hz"));
	check_delays(roots[1]);
	check_softirqs(cpu, roots[2], "softirq");
	check_softirqs(cpu, roots[2], "xdp-drop");
	for (size_t j = 0; j < ARRAY_SIZE(experiments); j++)
		json_decref(roots[j]);
	live_run_free(&run);
}

int main(void)
{
	int cpu, other;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs(ARGS("load", "--source", "bpf", "0.01", "1"));
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	check_exit("0pp", 2);
	check_exit("100pp", 0);
	check_strayed(other);
	check_experiments(cpu);
	return live_done();
}
