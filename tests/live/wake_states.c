/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the verdicts of `subtick wake` about idle states, the exit codes of these verdicts, and
 * that idle states are restored after every kind of exit. Fake files of cpuidle and of residency
 * counters replace the files of this machine.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

/*
 * Software perf events in place of residency counters: cpu-clock always counts, dummy never counts.
 */
#define COUNTS "event=0x00"
#define NEVER  "event=0x09"

#define MOST   10 /* the kernel's CPUIDLE_STATE_MAX */
#define FORCED 4  /* number of idle states that the test forces */

static char root[64], cpu_text[16];
static int cpu, other;

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(full, 0755) && errno != EEXIST)
			live_fail_all("cannot make %s", full);
		*slash = '/';
	}
	file = fopen(full, "we");
	if (!file || fputs(text, file) < 0 || fclose(file))
		live_fail_all("cannot write %s", full);
}

static void put_state(int c, int state, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s", c, state,
		 name);
	put(path, value);
}

/*
 * Creates @nr fake idle states of both cores. The usage and time counters of the fake idle states
 * do not change.
 */
static void make_states(int nr, const char *name, const char *claim_us)
{
	const char *const files[][2] = {{"name", name},	       {"desc", "MWAIT 0x20"},
					{"latency", claim_us}, {"residency", claim_us},
					{"disable", "0"},      {"usage", "5"},
					{"time", "5"}};

	put("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle");
	for (int state = 0; state < nr; state++)
		for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
			put_state(cpu, state, files[f][0], files[f][1]);
			put_state(other, state, files[f][0], files[f][1]);
		}
}

static void make_counter(const char *pmu, const char *name, const char *event)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	put(path, "1");
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s-residency", pmu,
		 name);
	put(path, event);
}

/* True if file `disable` of idle state i of the measured core contains character i of @wanted. */
static bool disabled_are(const char *wanted)
{
	char found[FORCED + 1] = "", path[256];

	for (size_t state = 0; state < strlen(wanted); state++) {
		FILE *file;

		snprintf(path, sizeof(path),
			 "%s/sys/devices/system/cpu/cpu%d/cpuidle/state%zu/disable", root, cpu,
			 state);
		file = fopen(path, "re");
		found[state] = file ? (char)fgetc(file) : '?';
		if (file)
			fclose(file);
	}
	return !strcmp(found, wanted);
}

static bool wait_disabled(const char *wanted)
{
	for (int i = 0; i < 500 && !disabled_are(wanted); i++)
		live_sleep_ms(10);
	return disabled_are(wanted);
}

/*
 * Writes the forced idle state of each round to @buf, in the order of this core's points. "-" means
 * that no state was forced. The array "states" in @run has a row for each idle state that the core
 * entered in a round.
 */
static void rounds_of(json_t *run, char *buf, size_t size)
{
	const char *round = "";
	json_t *state;
	size_t i;

	buf[0] = '\0';
	json_array_foreach(json_object_get(run, "states"), i, state)
	{
		const char *forced = json_string_value(json_object_get(state, "forced")) ?: "-";
		size_t len = strlen(buf);

		if (strcmp(forced, round))
			snprintf(buf + len, size - len, "%s ", forced);
		round = forced;
	}
}

/*
 * Each round of `subtick wake` forces one idle state. The last round forces no idle state: the
 * kernel may enter each state that was enabled before the run.
 */
static void test_each_state(void)
{
	static const char *const names[FORCED] = {"S0", "S1", "S2", "S3"};
	char rounds[128];
	json_t *run;

	make_states(FORCED, "", "1000000");
	for (int state = 0; state < FORCED; state++)
		put_state(cpu, state, "name", names[state]);
	put_state(cpu, 2, "disable", "1");
	run = live_json(ARGS("wake", "-C", cpu_text, "--root", root, "--from", "4ms", "--to", "4ms",
			     "-n", "20", "--each-state", "--json"));
	if (!live_ok(run != NULL, "each state: runs"))
		return;
	rounds_of(run, rounds, sizeof(rounds));
	live_ok(live_number(run, "requested_total") == 5 * 20, "each state: five rounds of 20 points");
	live_ok(json_array_size(json_object_get(run, "by_state")) == 4,
		"each state: a row for each");
	/*
	 * The five rounds of `subtick wake` have 20 points each. With more than 80 valid points,
	 * each round has a valid point.
	 */
	if (live_number(run, "taken_total") > 80)
		live_ok(!strcmp(rounds, "S0 S1 S2 S3 - "), "each state: rounds %s", rounds);
	else
		live_skip("each state: rounds", "CPU %d hardly idled", cpu);
	live_ok(disabled_are("0010"), "each state: what was disabled is as before");
	json_decref(run);
}

/*
 * Checks the verdict of each idle state, the exit code, and a note of the report unless @note is
 * NULL.
 */
static void check_verdict(const char *what, const char *verdict, const char *note, int exit_code)
{
	bool right = true, noted;
	struct live_run run;
	json_t *report, *state;
	size_t i;

	live_run(ARGS("wake", "-C", cpu_text, "--root", root, "--from", "4ms", "--to", "4ms", "-n",
		      "25", "--json", "--fail-on", "exceeds"),
		 &run);
	report = json_loads(run.out, 0, NULL);
	json_array_foreach(json_object_get(report, "states"), i, state) right &=
		!strcmp(json_string_value(json_object_get(state, "verdict")) ?: "", verdict);
	noted = !note || live_has_note(report, note);
	live_ok(report != NULL, "%s: runs", what);
	live_idle_ok(cpu, i && right && noted && run.exit_code == exit_code,
		     "%s: the verdict of %zu states is %s, exit code %d", what, i, verdict,
		     run.exit_code);
	json_decref(report);
	live_run_free(&run);
}

/* Tests that the exit code of source passive depends on all windows, not only on the last. */
static void test_passive(void)
{
	struct live_run run;

	live_run(ARGS("wake", "--root", root, "--source", "passive", "--json", "--fail-on",
		      "exceeds", "1", "2"),
		 &run);
	live_idle_ok(cpu, run.exit_code == 2,
		     "passive: a claim of nothing is exceeded: exit code %d", run.exit_code);
	live_run_free(&run);
}

/* Without a residency counter, the counters of cpuidle decide whether a state was entered. */
static void test_verdicts(void)
{
	make_states(MOST, "C6", "1000000");
	check_verdict("cpuidle counts no entry", "not-entered", "never entered (by cpuidle)", 0);
	make_counter("cstate_core", "c6", NEVER);
	check_verdict("the core's counter stands still", "not-entered",
		      "never entered (by cstate_core)", 0);
	make_counter("cstate_core", "c6", COUNTS);
	check_verdict("the core slept", "within", NULL, 0);
	make_counter("cstate_pkg", "c6", NEVER);
	check_verdict("the package stayed awake", "core-only", "the package never slept", 0);
	make_counter("cstate_pkg", "c6", COUNTS);
	check_verdict("core and package slept", "within", NULL, 0);
	make_states(MOST, "C6", "0");
	check_verdict("a claim of nothing", "exceeds", NULL, 2);
	test_passive();
}

static pid_t start(void)
{
	const char *subtick = getenv("SUBTICK") ?: SUBTICK_PATH;
	pid_t pid = fork();

	if (pid)
		return pid;
	freopen("/dev/null", "w", stdout);
	freopen("/dev/null", "w", stderr);
	execl(subtick, subtick, "wake", "--root", root, "--state", "C1", "-C", cpu_text,
	      (char *)NULL);
	_exit(127);
}

static void test_end(int signal_nr, const char *name)
{
	pid_t pid = start();
	int status = 0;

	live_ok(wait_disabled("101"), "%s: C1 alone is allowed during the run", name);
	kill(pid, signal_nr);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (signal_nr == SIGKILL)
		live_ok(WIFSIGNALED(status), "%s: ended by the signal", name);
	else
		live_ok(WIFEXITED(status) && !WEXITSTATUS(status), "%s: ended in order", name);
	live_ok(wait_disabled("001"), "%s: every file is as it was", name);
}

static void test_ends(void)
{
	static const char *const names[] = {"POLL", "C1", "C6"};

	make_states(3, "", "100");
	for (int state = 0; state < 3; state++)
		put_state(cpu, state, "name", names[state]);
	put_state(cpu, 2, "disable", "1");
	test_end(SIGKILL, "SIGKILL");
	test_end(SIGINT, "SIGINT");
	test_end(SIGTERM, "SIGTERM");
	live_refused("an unknown state",
		     ARGS("wake", "--root", root, "--state", "C9", "-C", cpu_text), 77,
		     "POLL, C1, C6");
	live_refused("source nic without a card",
		     ARGS("wake", "--source", "nic", "--device", "lo", "-C", cpu_text), 77, "i210");
	live_ok(disabled_are("001"), "and nothing has changed");
}

#define POINTS "100"

/*
 * Returns the number of voluntary context switches of a run whose sender is on another core. Each
 * voluntary switch of a thread precedes one wake-up of the thread.
 */
static long switches(const char *distance)
{
	struct rusage before, after;
	json_t *run;

	getrusage(RUSAGE_CHILDREN, &before);
	run = live_json(ARGS("wake", "-s", "remote", "-C", cpu_text, "--from", distance, "--to",
			     distance, "-n", POINTS, "--json"));
	getrusage(RUSAGE_CHILDREN, &after);
	if (!run)
		live_fail_all("source remote says nothing");
	json_decref(run);
	return after.ru_nvcsw - before.ru_nvcsw;
}

/*
 * Checks that the number of wake-ups per point is about the same for senders with launch distances
 * of 20 ms and 4 ms.
 */
static void test_sender(void)
{
	long near = switches("4ms"), far = switches("20ms"), points = strtol(POINTS, NULL, 10);

	live_note("switches at 4 ms: %ld, at 20 ms: %ld", near, far);
	live_ok(far - near < 10 * points,
		"remote: %ld more wake-ups of its threads for 16 ms more of %ld points", far - near,
		points);
}

int main(void)
{
	char remove[96];

	if (geteuid())
		live_skip_all("needs root");
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	snprintf(root, sizeof(root), "/tmp/subtick-states-XXXXXX");
	if (!mkdtemp(root))
		live_fail_all("cannot make a directory");
	put("/run/made", "");
	test_ends();
	live_pin(other);
	test_each_state();
	test_verdicts();
	test_sender();
	snprintf(remove, sizeof(remove), "rm -r %s", root);
	if (system(remove))
		live_note("%s stays", root);
	return live_done();
}
