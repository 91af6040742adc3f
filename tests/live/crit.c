/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests `subtick crit`: JSON keys, consistent figures, error messages, and a comparison of both
 * engines.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crit_module.h"
#include "live.h"
#include "host/meminfo.h"

static bool have_bpf, have_module;

static void check_op(json_t *root, const char *op)
{
	json_t *row = live_row(root, "ops", "op", op);
	double median = live_number(row, "median"), average = live_number(row, "average");
	double max = live_number(row, "max"), max_avg = live_number(row, "max_avg");

	if (isnan(median)) {
		live_ok(json_is_null(json_object_get(row, "median")) &&
				json_is_null(json_object_get(row, "max")),
			"%s is unavailable here and is null", op);
		return;
	}
	live_note("%s: batch %g median %g average %g max %g max_avg %g", op,
		  live_number(row, "batch"), median, average, max, max_avg);
	live_ok(median <= max && average <= max_avg && max_avg <= max,
		"%s: median and average ≤ max, average ≤ max_avg ≤ max", op);
	live_ok(live_number(row, "median_low") <= median &&
			median <= live_number(row, "median_high"),
		"%s: the median is within its spread", op);
	live_ok(live_number(row, "percentiles.p50") <= live_number(row, "percentiles.p99"),
		"%s: percentiles rise", op);
}

static void check_engine(const char *engine, const char *unit)
{
	json_t *root =
		live_json(ARGS("crit", "--json", "--engine", engine, "--samples", "2000",
			       "--highest", "50", "--rounds", "3", "--percentiles", "50,99,99.9"));

	if (!live_ok(root != NULL, "engine %s gives one JSON object", engine))
		return;
	live_ok(!strcmp(live_text(root, "schema"), "subtick.crit/1") &&
			!strcmp(live_text(root, "engine"), engine) &&
			!strcmp(live_text(root, "unit"), unit),
		"schema, engine and unit %s", unit);
	live_ok(live_number(root, "nr_samples") == 2000 && live_number(root, "nr_highest") == 50 &&
			live_number(root, "rounds") == 3 &&
			json_is_false(json_object_get(root, "do_work")),
		"the settings are reported");
	for (int i = 0; i < 3; i++)
		check_op(root, tree_ops[i]);
	json_decref(root);
	root = live_json(ARGS("crit", "--json", "--engine", engine, "-n", "10", "--highest", "1000",
			      "-r", "1", "--work"));
	live_ok(root && live_number(root, "nr_highest") == 10 &&
			json_is_true(json_object_get(root, "do_work")),
		"nr_highest is clamped to nr_samples; --work");
	json_decref(root);
}

/* Checks that each CPU has its own figures, and that -C selects CPUs. */
static void check_cpus(void)
{
	json_t *root, *rows;
	char last[24];
	bool only = true;
	json_t *row;
	size_t i;

	snprintf(last, sizeof(last), "%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	root = live_json(
		ARGS("crit", "--json", "--engine", "bpf", "-C", last, "-r", "1", "-n", "1500"));
	rows = json_object_get(root, "per_cpu");
	json_array_foreach(rows, i, row) only = only && live_number(row, "cpu") == atoi(last);
	live_ok(root && json_array_size(rows) >= 1 && only, "-C %s measures that CPU only", last);
	live_ok(live_number(root, "quality.clock_ns") > 0 &&
			live_number(root, "quality.call_ns") > 0,
		"the overhead is reported: clock %g ns, calls %g ns",
		live_number(root, "quality.clock_ns"), live_number(root, "quality.call_ns"));
	json_decref(root);
}

/* Runs crit and saves its output as a baseline file. */
static bool save_run(const char *engine, const char *path)
{
	FILE *file = fopen(path, "we");
	struct live_run run;
	bool saved;

	live_run(ARGS("crit", "--json", "-e", engine, "-r", "5", "-n", "3000"), &run);
	saved = file && !run.exit_code && fputs(run.out, file) >= 0;
	live_run_free(&run);
	return file && !fclose(file) && saved;
}

/*
 * Returns the number of operations in the second line of crit's output, which compares the run with
 * the baseline. The compared figure is "batch" for engine bpf and "median" for engine module.
 */
static int compare_rows(const char *engine, const char *path)
{
	bool ns = !strcmp(engine, "bpf");
	struct live_run run;
	json_t *root, *row;
	const char *line;
	int rows = 0;
	size_t i;

	live_run(ARGS("crit", "--json", "-e", engine, "-r", "5", "-n", "3000", "--against", path),
		 &run);
	line = strchr(run.out, '\n');
	root = line ? json_loads(line + 1, 0, NULL) : NULL;
	json_array_foreach(json_object_get(root, ns ? "times" : "cycles"), i, row)
	{
		rows += !strcmp(live_text(row, "figure"), ns ? "batch" : "median") &&
			!isnan(live_number(row, "change_ratio"));
	}
	json_decref(root);
	live_run_free(&run);
	return rows;
}

/* tests/unit/crit_report judges which differences --against reports as changes. */
static void check_against(const char *engine)
{
	char path[] = "/tmp/subtick-crit-XXXXXX";
	int fd = mkstemp(path), rows;
	struct live_run run;

	if (fd >= 0)
		close(fd);
	live_ok(save_run(engine, path), "%s: a run to compare with", engine);
	rows = compare_rows(engine, path);
	live_ok(rows > 0, "%s: --against compares %d operations", engine, rows);
	live_run(ARGS("crit", "-e", engine, "-r", "1", "--work", "--against", path), &run);
	live_ok(run.exit_code == 1 && strstr(run.err, "differ in do_work") && *run.out,
		"another kind of run: the report, then one clear line (%s)", run.err);
	live_run_free(&run);
	unlink(path);
}

/*
 * Compares the medians of both engines on one kernel. Averages are not compared, because they
 * include times at which the host of a guest ran other work. The median of one engine may be at
 * most the sum of 4 times the median of the other engine, four clock steps, and the time of the
 * empty calls that engine bpf subtracts (docs/methods/crit.md).
 */
static void check_agreement(void)
{
	json_t *bpf = live_json(ARGS("crit", "--json", "-e", "bpf", "-r", "3", "-n", "3000"));
	json_t *module = live_json(ARGS("crit", "--json", "-e", "module", "-r", "3", "-n", "3000"));
	double step = live_number(module, "quality.clock_step_ns"), b[3], m[3];
	double apart = 4 * step + live_number(bpf, "quality.call_ns");

	for (int i = 1; i < 3; i++) {
		b[i] = live_number(live_row(bpf, "ops", "op", tree_ops[i]), "median");
		m[i] = live_number(live_row(module, "ops", "op", tree_ops[i]), "median") * step;
		if (!isnan(b[i]))
			live_ok(b[i] <= 4 * m[i] + apart && m[i] <= 4 * b[i] + apart,
				"%s: the engines agree: bpf %.1f ns, module %.1f ns", tree_ops[i],
				b[i], m[i]);
	}
	if (isnan(b[1]) || isnan(b[2]))
		live_skip("both agree which pair costs more", "engine bpf knows only one here");
	else if (fmin(fabs(m[2] - m[1]), fabs(b[2] - b[1])) <= 4 * step)
		live_skip("both agree which pair costs more", "they cost the same to one of them");
	else
		live_ok((m[2] > m[1]) == (b[2] > b[1]), "both agree which pair costs more");
	json_decref(bpf);
	json_decref(module);
}

/* Checks that an interrupted run of crit reports its completed rounds. */
static void check_interrupt(void)
{
	char text[65536];
	int fd, code;
	pid_t pid = live_start(ARGS("crit", "--json", "-r", "1000", "-n", "1000"), &fd);
	double rounds;
	json_t *root;

	live_sleep_ms(live_emulated() ? 6000 : 1500);
	code = live_stop(pid, SIGINT, fd, text, sizeof(text));
	root = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
	rounds = live_number(root, "rounds");
	live_ok(!code && rounds >= 1 && rounds < 1000, "Ctrl-C reports the %g rounds so far",
		rounds);
	json_decref(root);
}

/*
 * Checks that all CPUs have figures, and that -C selects the CPUs to show. Percentiles may have
 * fractions.
 */
static void check_module_cpus(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bool only = true;
	char last[24];
	json_t *root, *rows, *row;
	size_t i;

	root = live_json(ARGS("crit", "--json", "-e", "module", "-r", "2", "-n", "1500"));
	rows = json_object_get(root, "per_cpu");
	live_ok(json_array_size(rows) == 3 * (size_t)cpus, "the module has figures of %ld CPUs",
		cpus);
	row = live_row(root, "ops", "op", "irq");
	live_ok(live_number(row, "percentiles.p999") >= live_number(row, "percentiles.p50"),
		"and the percentile 99.9: %g cycles", live_number(row, "percentiles.p999"));
	live_ok(live_number(root, "percentile_cpu") >= 0, "of CPU %g",
		live_number(root, "percentile_cpu"));
	json_decref(root);
	snprintf(last, sizeof(last), "%ld", cpus - 1);
	root = live_json(ARGS("crit", "--json", "-e", "module", "-C", last, "-r", "2", "-n", "1500"));
	rows = json_object_get(root, "per_cpu");
	json_array_foreach(rows, i, row) only = only && live_number(row, "cpu") == atoi(last);
	live_ok(json_array_size(rows) == 3 && only &&
			live_number(root, "percentile_cpu") == atoi(last),
		"-C %s has figures and percentiles of that CPU", last);
	row = live_row(root, "ops", "op", "preempt");
	live_ok(live_number(row, "median") ==
				live_number(live_row(root, "per_cpu", "op", "preempt"), "median") &&
			json_is_null(json_object_get(row, "max_avg")),
		"the figures are those of the CPU; the highest samples are of all, so there are "
		"none");
	json_decref(root);
}

/* Checks that Ctrl-C ends a round of crit that would take minutes. */
static void check_long_round(void)
{
	uint64_t available = 0, nr;
	char text[65536], samples[24];
	double took;
	pid_t pid;
	int fd, code;

	meminfo_available(NULL, &available);
	/*
	 * Choose @nr samples that need a third of the available memory. Module tracerbench refuses
	 * a run whose samples need more than half of the available memory.
	 */
	nr = available / 3 / 24 / (uint64_t)(sysconf(_SC_NPROCESSORS_ONLN) + 1);
	snprintf(samples, sizeof(samples), "%llu", (unsigned long long)nr);
	pid = live_start(ARGS("crit", "--json", "-e", "module", "-r", "1000", "-n", samples), &fd);
	live_sleep_ms(1500);
	took = now_s();
	code = live_stop(pid, SIGINT, fd, text, sizeof(text));
	took = now_s() - took;
	live_ok(took < 10.0 && (code == 1 || code == 0),
		"Ctrl-C ends a round of %s samples within %.1f s, with status %d", samples, took,
		code);
}

static void check_module_engine(void)
{
	uint64_t before;

	check_engine("module", "cycles");
	check_against("module");
	file_write("nr_samples", "777");
	live_json(ARGS("crit", "--json", "-e", "module", "-r", "1"));
	live_ok(!file_read_u64("nr_samples", &before) && before == 777 && !access(TREE, F_OK),
		"the module's settings are put back, and it stays loaded");
	check_module_cpus();
	check_long_round();
}

/* This check runs only in a guest of the VM suite, which has module tracerbench for its kernel. */
static void check_autoload(void)
{
	json_t *root;

	if (system("mkdir -p /lib/modules/$(uname -r)/extra && cp " MODULE_IN_GUEST
		   " /lib/modules/$(uname -r)/extra/ && depmod")) {
		live_skip("an installed module is loaded", "this guest has no depmod");
		return;
	}
	root = live_json(ARGS("crit", "--json", "-r", "1", "-n", "500"));
	live_ok(!strcmp(live_text(root, "engine"), "module"),
		"auto takes the module that is installed");
	live_ok(access("/sys/module/tracerbench", F_OK) && access(TREE, F_OK),
		"and unloads it again");
	json_decref(root);
	if (system("rm -rf /lib/modules/$(uname -r)/extra && depmod"))
		live_note("the module is still installed");
}

int main(void)
{
	struct live_run run;
	int loaded = -ENOENT;

	live_run(ARGS("crit", "--engine", "bpf", "-n", "100", "-r", "1"), &run);
	have_bpf = !run.exit_code;
	live_ok(have_bpf || (run.exit_code == 77 && *run.err), "engine bpf runs or says why not: %s",
		have_bpf ? "it runs" : strtok(run.err, "\n") ?: "");
	live_run_free(&run);
	if (!geteuid() && access(TREE, F_OK) && !access(MODULE_IN_GUEST, R_OK))
		check_autoload();
	if (!geteuid() && access(TREE, F_OK) && !access(MODULE_IN_GUEST, R_OK))
		loaded = module_load(MODULE_IN_GUEST);
	have_module = !access(TREE, F_OK);

	live_refused("missing file", ARGS("crit", "--against", "/nowhere"), 1, "/nowhere");
	live_refused("not a run", ARGS("crit", "--against", "/proc/version"), 1, "/proc/version");
	if (have_bpf) {
		check_engine("bpf", "ns");
		check_cpus();
		check_against("bpf");
	}
	if (have_module)
		check_module_engine();
	else
		live_refused("no module", ARGS("crit", "--engine", "module"), 77, "module");
	if (have_bpf && have_module)
		check_agreement();
	if (have_bpf || have_module)
		check_interrupt();
	if (!loaded)
		live_ok(!module_unload(), "the module can be unloaded again");
	return live_done();
}
