/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of `subtick load`: JSON contract, refusals, exit codes, signals, pipes. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

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

static void check_refusal(const char *what, const char *const args[], int code, const char *says)
{
	struct live_run run;
	size_t lines = 0;
	bool right;

	live_run(args, &run);
	for (const char *p = run.err; *p; p++)
		lines += *p == '\n';
	/* Before strtok() cuts it: which argument is evaluated first is the compiler's choice. */
	right = run.exit_code == code && strstr(run.err, says) && !*run.out && lines <= 2;
	live_ok(right, "%s: exit %d, one clear line (%s)", what, run.exit_code,
		strtok(run.err, "\n") ?: "");
	live_run_free(&run);
}

static void check_usage(void)
{
	check_refusal("interval 0", ARGS("load", "0"), 64, "interval 0");
	check_refusal("interval nan", ARGS("load", "nan"), 64, "interval nan");
	check_refusal("negative interval", ARGS("load", "-1"), 64, "-1");
	check_refusal("interval below 1 ms", ARGS("load", "0.0001"), 64, "0.0001");
	check_refusal("count 0", ARGS("load", "1", "0"), 64, "count 0");
	check_refusal("CPU out of range", ARGS("load", "-C", "8191"), 64, "8191");
	check_refusal("CPU list that is none", ARGS("load", "-C", "x"), 64, "--cpu x");
	check_refusal("unknown source", ARGS("load", "--source", "magic"), 64, "magic");
	check_refusal("unknown option", ARGS("load", "--nope"), 64, "--nope");
	check_refusal("unknown command", ARGS("lode"), 64, "lode");
}

/* As nobody: BPF is refused with what is missing and the fix. */
static void check_unprivileged(void)
{
	const char *program = getenv("SUBTICK");
	int status = 0;
	pid_t pid;

	if (geteuid()) {
		live_skip("without privileges: exit 77", "not run as root");
		return;
	}
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr) ||
		    setgid(65534) || setuid(65534))
			_exit(1);
		execlp(program ? program : SUBTICK_PATH, "subtick", "load", "0.1", "1", NULL);
		_exit(126);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 126)
		live_skip("without privileges: exit 77", "nobody may not run the program");
	else
		live_ok(WIFEXITED(status) && WEXITSTATUS(status) == 77,
			"without privileges: exit 77 (got %d)", WEXITSTATUS(status));
}

static void check_signal(void)
{
	char line[65536];
	int fd, code;
	pid_t pid = live_start(ARGS("load", "--json", "60"), &fd);
	json_t *root;

	live_sleep_ms(live_emulated() ? 8000 : 1500);
	code = live_stop(pid, SIGINT, fd, line, sizeof(line));
	root = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
	live_ok(root && live_number(root, "window_ns") < 30e9 && !code,
		"Ctrl-C prints the window so far and exits 0");
	json_decref(root);
}

static void check_pipe(void)
{
	char byte;
	int fd, status = 0;
	pid_t pid = live_start(ARGS("load", "--json", "0.05"), &fd);

	if (read(fd, &byte, 1) != 1)
		live_note("nothing to read");
	close(fd);
	waitpid(pid, &status, 0);
	live_ok(WIFEXITED(status) && !WEXITSTATUS(status), "a closed pipe ends it quietly");
}

static void check_windows(void)
{
	struct live_run run;
	int lines = 0;

	live_run(ARGS("load", "--json", "0.001", "50"), &run);
	for (const char *p = run.out; *p; p++)
		lines += *p == '\n';
	live_ok(!run.exit_code && lines == 50, "50 windows of 1 ms: %d lines", lines);
	live_run_free(&run);
	live_run(ARGS("load", "--csv", "0.01", "3"), &run);
	live_ok(!run.exit_code && strstr(run.out, "busy_ratio"), "--csv has a header");
	live_run_free(&run);
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
	check_usage();
	check_unprivileged();
	check_signal();
	check_pipe();
	check_windows();
	return live_done();
}
