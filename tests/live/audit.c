/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick audit on this kernel: the tick it finds, the task that hides, the truth of delays. */
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "judge.h"
#include "live.h"
#include "host/kernel.h"

/* Fraction of the true load; below it docs/methods/audit.md calls a load hidden. */
#define HIDDEN 0.25
#define SHARE  0.30
#define NR(x)  (sizeof(x) / sizeof((x)[0]))

static char cpu_text[16];
static int configured_hz; /* 0: not known */
/*
 * Tick regime of the kernel's configuration, if it is readable. The verdict must find the same
 * regime by measurement.
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

/* Result of the first experiment, used by the next ones. */
struct found {
	double hz;
};

static void measure_ticks(void *arg, struct verdict *verdict)
{
	char plot[] = "/tmp/subtick-audit-XXXXXX";
	struct found *found = arg;
	double on_tick, reads;
	int fd = mkstemp(plot);
	json_t *root, *row;

	close(fd);
	root = live_json(ARGS("audit", "ticks", "--json", "--cpu", cpu_text, "--budget",
			      live_emulated() ? "3s" : "6s", "--plot", plot));
	row = row_of(root, "sets", "set", "user+system: user, nice, system");
	found->hz = live_number(root, "tick_hz");
	on_tick = live_number(row, "coherence_ratio");
	reads = live_number(row, "read_hz");
	json_decref(root);
	verdict_always(verdict, is_svg(plot), "--plot writes a whole SVG file");
	unlink(plot);
	verdict_always(verdict, reads > 0.0, "the columns were read %.0f times a second", reads);
	/*
	 * A kernel that measures at each switch shows no tick. A later test checks that no task can
	 * hide from such a kernel.
	 */
	verdict_figure(verdict, !by_tick || !isnan(found->hz),
		       "the tick of a tick-accounting kernel is found: %.0f Hz", found->hz);
	verdict_figure(verdict, isnan(found->hz) || on_tick >= 0.6,
		       "increments fall on the tick: %.1f %%", on_tick * 100.0);
	if (configured_hz)
		verdict_figure(verdict, isnan(found->hz) || found->hz == configured_hz,
			       "no HZ but the configured %d is named: %.0f", configured_hz,
			       found->hz);
	else
		verdict_unknown(verdict, "the kernel's configuration is not known",
				"the inferred HZ is the configured one");
}

/* Under tick accounting, /proc/stat shows little of the true load at the phase that was found. */
static void claim_hidden(struct verdict *verdict, json_t *root)
{
	json_t *row = row_of(root, "loads", "load", "hidden");
	double busy = live_number(row, "true_ratio"), shown = live_number(row, "shown_ratio");
	double burnt = live_number(row, "burn_ratio");

	live_note("%.3f ms after the tick, for %.1f s",
		  (live_number(row, "phase_ns") - live_number(root, "tick_phase_ns")) / 1e6,
		  live_number(row, "window_ns") / 1e9);
	verdict_figure(verdict, row != NULL, "a phase was found at which a task hides");
	verdict_figure(verdict, busy >= SHARE - 0.1, "the hidden task's core is busy: %.1f %%",
		       busy * 100.0);
	verdict_figure(verdict, shown <= HIDDEN * busy,
		       "and the columns show %.2f %%, a quarter of that at most", shown * 100.0);
	verdict_figure(verdict, fabs(burnt - SHARE) < 0.02, "its own timestamps agree: %.1f %%",
		       burnt * 100.0);
}

/* An exact regime accounts the same share at any phase of the tick. */
static void claim_not_hidden(struct verdict *verdict, json_t *root)
{
	json_t *row = row_of(root, "errors", "shown_by", "procstat");
	double error = live_number(row, "error_ratio");

	verdict_figure(verdict, root && !row_of(root, "loads", "load", "hidden"),
		       "no phase hides a task from exact columns");
	verdict_figure(verdict, fabs(error) < 0.05, "the columns are right on average: %.3f off",
		       error);
}

/* An emulated machine, beside other programs, needs more time to measure anything at all. */
static const char *budget(const char *real, const char *emulated)
{
	return live_emulated() ? emulated : real;
}

static void measure_sources(void *arg, struct verdict *verdict)
{
	const struct found *found = arg;
	bool hides = by_tick || !isnan(found->hz);
	json_t *root = live_json(ARGS("audit", "sources", "--json", "--cpu", cpu_text, "--loads",
				      hides ? "hidden" : "random,hidden", "--budget",
				      budget("12s", "30s"), "--share", "30%"));
	const char *name = json_string_value(json_object_get(root, "experiment"));

	verdict_always(verdict, name && !strcmp(name, "sources"),
		       "audit sources gives an object of its own");
	if (hides)
		claim_hidden(verdict, root);
	else
		claim_not_hidden(verdict, root);
	json_decref(root);
}

static void measure_softirq(void *arg, struct verdict *verdict)
{
	static const char *const loads[] = {"softirq", "xdp-drop"};
	json_t *root = live_json(ARGS("audit", "sources", "--json", "--cpu", cpu_text, "--loads",
				      "softirq,xdp-drop", "--budget", "2s"));

	for (size_t j = 0; j < NR(loads); j++) {
		double on_idle = live_number(row_of(root, "loads", "load", loads[j]),
					     "softirq_on_idle_ratio");

		if (isnan(on_idle))
			verdict_unknown(verdict, "this machine cannot make that load",
					"load %s runs softirqs on idle", loads[j]);
		else if (live_realtime())
			verdict_figure(verdict, on_idle < 0.01,
				       "PREEMPT_RT: load %s runs none on idle: %.1f %%", loads[j],
				       on_idle * 100.0);
		else
			verdict_figure(verdict, on_idle > 0.01,
				       "load %s runs softirqs on idle: %.1f %%", loads[j],
				       on_idle * 100.0);
	}
	json_decref(root);
}

static void check_exit(const char *limit, int code)
{
	struct live_run run;

	live_run(ARGS("audit", "delays", "--delays", "1", "--budget",
		      budget("1.5s", "10s"), "--cpu", cpu_text, "--fail-over", limit),
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

/* A load that left its core proves nothing about the figures of that core. */
static void check_strayed(int other)
{
	static char text[1 << 20];
	int fd, code, moved = 0;
	pid_t pid = live_start(ARGS("audit", "sources", "--json", "--cpu", cpu_text, "--phase",
				    "0ms", "--budget", "4s"),
			       &fd);

	/* Some of these processes are the load, some find the tick. Move all to the other CPU. */
	for (int i = 0; i < 20 && !moved; i++) {
		live_sleep_ms(100);
		moved = drive_away(pid, other);
	}
	/*
	 * Moves them again, because a process that had just started bound itself to the core
	 * afterwards.
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

/*
 * Runs all three experiments briefly. Each prints its object, and together they determine the
 * regime.
 */
static void measure_all(void *arg, struct verdict *verdict)
{
	static const char *const experiments[] = {"ticks", "delays", "sources", "verdict"};
	json_t *roots[NR(experiments)];
	const char *regime;
	struct live_run run;

	live_run(ARGS("audit", "--json", "--cpu", cpu_text, "--budget",
		      live_emulated() ? "12s" : "24s"),
		 &run);
	for (size_t j = 0; j < NR(experiments); j++) {
		roots[j] = object_of(run.out, experiments[j]);
		verdict_count(verdict,
			      roots[j] && live_number(roots[j], "window_ns") > 0.0 &&
				      json_is_object(json_object_get(roots[j], "quality")),
			      "audit without an experiment gives %s", experiments[j]);
	}
	regime = json_string_value(json_object_get(roots[3], "regime")) ?: "";
	if (by_tick_only)
		verdict_figure(verdict, !strcmp(regime, "tick"),
			       "the regime is the configured one: \"%s\"", regime);
	else
		verdict_unknown(verdict, "the kernel's configuration tells no regime for certain",
				"the regime is the configured one: \"%s\"", regime);
	live_note("worst error %.3f, good to 1 %% from %.1f s on",
		  live_number(roots[3], "worst_error_ratio"),
		  live_number(roots[3], "good_to_1_percent_ns") / 1e9);
	for (size_t j = 0; j < NR(experiments); j++)
		json_decref(roots[j]);
	live_run_free(&run);
}

/*
 * Audit uses the audited core and a core to read from, so all cores count. Audit itself repeats
 * probes that were disturbed by more than 15 points. Its children and interrupts belong to the
 * test.
 */
static enum judged judge_it(void (*measure)(void *, struct verdict *), struct found *found, int on,
			    double taken, uint64_t late_ns)
{
	struct judge_opts opts = {.cpu = on,
				  .limits = {.taken = taken,
					     .waited = -1,
					     .late_ns = late_ns,
					     .own_forks = UINT_MAX,
					     .own_irqs = UINT_MAX,
					     .own_interrupts = measure != measure_sources},
				  .tries = measure == measure_all ? 2 : 3, /* they take long */
				  .measure = measure,
				  .arg = found};

	return judge(&opts);
}

int main(void)
{
	struct found found = {NAN};
	uint64_t margin_ns;
	int cpu, other;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs(ARGS("load", "--source", "bpf", "0.01", "1"));
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	read_config();
	judge_it(measure_ticks, &found, WITNESS_ALL_CPUS, 0.15, 0);
	/*
	 * A hidden burn is in the middle between two ticks, so it stays hidden unless it begins
	 * later than half of the free time. Time of other tasks shows in a load that runs for half
	 * of the try.
	 */
	margin_ns = (1.0 - SHARE) / 2.0 * 1e9 / (configured_hz ? configured_hz : 1000);
	judge_it(measure_sources, &found, cpu, SHARE * HIDDEN / 6, margin_ns);
	judge_it(measure_softirq, NULL, WITNESS_ALL_CPUS, 0.15, 0);
	check_exit("0pp", 2);
	check_exit("100pp", 0);
	check_strayed(other);
	judge_it(measure_all, NULL, WITNESS_ALL_CPUS, 0.15, 0);
	return live_done();
}
