/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick audit on this kernel: the tick it finds, the task that hides, the truth of delays. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "live.h"
#include "sys/kconfig.h"

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define TRIES	  4
#define NR(x)	  (sizeof(x) / sizeof((x)[0]))

static char cpu_text[16];
static int configured_hz; /* 0: not known */
/* What the kernel was built to do, as far as it is known: the verdict must find it out. */
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

/* What emulation disturbs it disturbs every time. */
static int tries(int most)
{
	return live_emulated() ? 1 : most;
}

/* The row whose @key reads @name. */
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

/* Returns the rate that was found, 0 for none. */
static int check_ticks(void)
{
	char plot[] = "/tmp/subtick-audit-XXXXXX";
	double hz = NAN, on_tick = NAN, reads = NAN;
	int fd = mkstemp(plot);

	close(fd);
	for (int i = 0; i < tries(TRIES) && (isnan(hz) || (configured_hz && hz != configured_hz));
	     i++) {
		json_t *root = live_json(ARGS("audit", "ticks", "--json", "--cpu", cpu_text,
					      "--budget", live_emulated() ? "3s" : "6s", "--plot", plot));
		json_t *row = row_of(root, "sets", "set", "user+system: user, nice, system");

		hz = live_number(root, "tick_hz");
		on_tick = live_number(row, "coherence_ratio");
		reads = live_number(row, "read_hz");
		json_decref(root);
	}
	live_ok(is_svg(plot), "--plot writes a whole SVG file");
	unlink(plot);
	live_ok(reads > 0.0, "the columns were read %.0f times a second", reads);
	if (live_emulated() && (isnan(hz) || (configured_hz && hz != configured_hz))) {
		live_skip("the tick is found", "ticks of an emulated core come when they can");
	} else if (isnan(hz)) {
		live_ok(!by_tick, "the tick of a tick-accounting kernel is found");
		/* An exact accountant shows no tick; that nothing hides from it is tested below. */
		live_note(
			"no tick in the figures: not a tick-accounting core, or a very noisy one");
	} else {
		live_ok(on_tick >= 0.6, "increments fall on the tick: %.1f %%", on_tick * 100.0);
		if (configured_hz)
			live_ok(hz == configured_hz, "the inferred HZ, %.0f, is the configured %d",
				hz, configured_hz);
		else
			live_skip("the inferred HZ is the configured one",
				  "the kernel's configuration is not to be had");
	}
	return isnan(hz) ? 0 : (int)hz;
}

static void check_hidden(const json_t *row, double busy, double shown)
{
	live_ok(row != NULL, "a phase was found at which a task hides");
	live_ok(busy >= 0.20, "the hidden task's core is busy: %.1f %%", busy * 100.0);
	live_ok(shown < 0.02, "and the columns show %.2f %%", shown * 100.0);
}

/* What an exact regime promises: the same share at any phase. */
static void check_not_hidden(json_t *root)
{
	json_t *row = row_of(root, "errors", "shown_by", "procstat");

	live_ok(!row_of(root, "loads", "load", "hidden"),
		"no phase hides a task from exact columns");
	live_ok(fabs(live_number(row, "error_ratio")) < 0.05, "the columns are right on average");
}

static void check_softirq(void)
{
	static const char *const loads[] = {"softirq", "xdp-drop"};
	double on_idle[NR(loads)] = {NAN, NAN};

	for (int i = 0; i < tries(3 * TRIES) && !(on_idle[0] > 0.01 && on_idle[1] > 0.01); i++) {
		json_t *root = live_json(ARGS("audit", "sources", "--json", "--cpu", cpu_text,
					      "--loads", "softirq,xdp-drop", "--budget", "2s"));

		for (size_t j = 0; j < NR(loads); j++)
			/* On a core that others use they run on top of tasks: the best of all. */
			on_idle[j] = fmax(on_idle[j],
					  live_number(row_of(root, "loads", "load", loads[j]),
						      "softirq_on_idle_ratio"));
		json_decref(root);
		if (isnan(on_idle[0]))
			break;
	}
	for (size_t j = 0; j < NR(loads); j++)
		if (isnan(on_idle[j]))
			live_skip(loads[j], "this machine cannot make that load");
		else if (live_realtime())
			live_ok(on_idle[j] < 0.01, "PREEMPT_RT: load %s runs none on idle: %.1f %%",
				loads[j], on_idle[j] * 100.0);
		else
			live_ok(on_idle[j] > 0.01, "load %s runs softirqs on idle: %.1f %%",
				loads[j], on_idle[j] * 100.0);
}

static void check_sources(int hz)
{
	double busy = 0.0, shown = 1.0, burnt = NAN;
	json_t *root = NULL, *row = NULL;

	/* Others on the core show, and late wake-ups run into the tick: not what is tested. */
	for (int i = 0; i < tries(2 * TRIES) && !(busy >= 0.20 && shown < 0.02); i++) {
		json_decref(root);
		root = live_json(ARGS("audit", "sources", "--json", "--cpu", cpu_text, "--loads",
				      hz ? "hidden" : "random,hidden", "--budget", live_emulated() ? "3s" : "6s", "--share",
				      "30%"));
		row = row_of(root, "loads", "load", "hidden");
		busy = live_number(row, "true_ratio");
		shown = live_number(row, "shown_ratio");
		burnt = live_number(row, "burn_ratio");
		if (!hz)
			break;
	}
	if (!live_ok(root != NULL, "audit sources gives an object"))
		return;
	live_ok(!strcmp(json_string_value(json_object_get(root, "experiment")) ?: "", "sources"),
		"experiment is sources");
	if (live_emulated()) {
		live_skip("a task hides", "an emulated core's time is not its own");
	} else if (hz) {
		check_hidden(row, busy, shown);
		live_ok(fabs(burnt - 0.30) < 0.02, "its own books agree: %.1f %%", burnt * 100.0);
	} else {
		check_not_hidden(root);
	}
	json_decref(root);
}

static void check_delays(void)
{
	double best[5] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY}, low, high,
	       spread = INFINITY;

	if (live_emulated()) {
		live_skip("true time per loop is stable", "an emulated core's time is not its own");
		return;
	}
	/* Caches that others cooled are not the loop's: the least of several runs is compared. */
	for (int i = 0; i < 2 * TRIES && !(spread <= 2.0); i++) {
		json_t *root = live_json(ARGS("audit", "delays", "--json", "--cpu", cpu_text,
					      "--delays", "1,10,100,500,1000", "--budget", "4s"));
		json_t *rows = json_object_get(root, "delays");

		low = INFINITY;
		high = 0.0;
		for (size_t j = 0; j < NR(best); j++) {
			double each = live_number(json_array_get(rows, j), "true_per_iteration_ns");

			best[j] = fmin(best[j], each);
			low = fmin(low, best[j]);
			high = fmax(high, best[j]);
		}
		spread = high / low;
		json_decref(root);
	}
	for (size_t j = 0; j < NR(best); j++)
		live_note("true time per loop: %.0f ns", best[j]);
	live_ok(spread <= 2.0, "true time per loop is stable over all delays: within %.2f times",
		spread);
}

static void check_exit(const char *limit, int code)
{
	struct live_run run;

	live_run(ARGS("audit", "delays", "--delays", "1", "--budget", "1.5s", "--cpu", cpu_text,
		      "--fail-over", limit),
		 &run);
	live_ok(run.exit_code == code, "--fail-over %s exits with %d: %s", limit, run.exit_code,
		strtok(run.err, "\n") ?: "");
	live_run_free(&run);
}

/* Moves what @parent has started to @cpu, as the kernel does when a core goes offline. */
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

/* A load that is not on its core any more proves nothing about the figures of that core. */
static void check_strayed(int other)
{
	static char text[1 << 20];
	int fd, code, moved = 0;
	pid_t pid = live_start(ARGS("audit", "sources", "--json", "--cpu", cpu_text, "--phase",
				    "0ms", "--budget", "4s"),
			       &fd);

	/* Which of them is the load and which helped to find the tick cannot be told: all go. */
	for (int i = 0; i < 20 && !moved; i++) {
		live_sleep_ms(100);
		moved = drive_away(pid, other);
	}
	/* Once more: one that had only just begun has bound itself after the first time. */
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

/* The object of @experiment among the lines that subtick printed. */
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

/* All three, in short: each gives its object, and together they find the regime out. */
static void check_all(void)
{
	static const char *const experiments[] = {"ticks", "delays", "sources", "verdict"};
	json_t *roots[NR(experiments)] = {NULL};
	const char *regime = "";

	for (int i = 0; i < tries(TRIES) && strcmp(regime, "tick"); i++) {
		struct live_run run;

		live_run(ARGS("audit", "--json", "--cpu", cpu_text, "--budget", live_emulated() ? "12s" : "24s"), &run);
		for (size_t j = 0; j < NR(experiments); j++) {
			json_decref(roots[j]);
			roots[j] = object_of(run.out, experiments[j]);
		}
		regime = json_string_value(json_object_get(roots[3], "regime")) ?: "";
		live_run_free(&run);
		if (!by_tick_only)
			break;
	}
	for (size_t j = 0; j < NR(experiments); j++)
		live_ok(roots[j] && live_number(roots[j], "window_ns") > 0.0 &&
				json_is_object(json_object_get(roots[j], "quality")),
			"audit without an experiment gives %s", experiments[j]);
	if (live_emulated())
		live_skip("the regime is found", "an emulated core's time is not its own");
	else if (!by_tick_only)
		live_skip("the regime is the configured one",
			  "the kernel's configuration tells no regime for certain");
	else
		live_ok(!strcmp(regime, "tick"), "the regime is the configured one: \"%s\"",
			regime);
	live_note("worst error %.3f, good to 1 %% from %.1f s on",
		  live_number(roots[3], "worst_error_ratio"),
		  live_number(roots[3], "good_to_1_percent_ns") / 1e9);
	for (size_t j = 0; j < NR(experiments); j++)
		json_decref(roots[j]);
}

int main(void)
{
	int cpu, other, hz;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs(ARGS("load", "--source", "bpf", "0.01", "1"));
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	read_config();
	hz = check_ticks();
	check_sources(hz);
	check_softirq();
	check_delays();
	check_exit("0pp", 2);
	check_exit("100pp", 0);
	check_strayed(other);
	check_all();
	return live_done();
}
