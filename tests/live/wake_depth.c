/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests verdicts of `subtick wake` that are based on residency counters. A fake /sys declares two
 * software events of perf as residency counters. The counter cpu-clock always counts, and the
 * counter dummy never counts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live.h"

/*
 * Two events of PERF_TYPE_SOFTWARE: cpu-clock, which always counts, and dummy, which never counts.
 */
#define COUNTS "event=0x00"
#define NEVER  "event=0x09"

/* CPUIDLE_STATE_MAX of the kernel, and number of idle states that the test forces */
#define MOST   10
#define FORCED 4

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

static void put_state(int state, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s", cpu, state,
		 name);
	put(path, value);
}

/*
 * Creates fake cpuidle files. Every fake idle state has the name C6 and a claimed latency of one
 * second, which no wake-up exceeds. The usage and time counters of the fake idle states do not
 * change.
 */
static void make_cpuidle(int nr)
{
	put("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle");
	for (int state = 0; state < nr; state++) {
		put_state(state, "name", "C6");
		put_state(state, "desc", "MWAIT 0x20");
		put_state(state, "latency", "1000000");
		put_state(state, "residency", "1000000");
		put_state(state, "disable", "0");
		put_state(state, "usage", "5");
		put_state(state, "time", "5");
	}
}

static void make_counter(const char *pmu, const char *event)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	put(path, "1");
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/c6-residency", pmu);
	put(path, event);
}

static bool all_verdicts(json_t *run, const char *wanted)
{
	json_t *state, *states = json_object_get(run, "states");
	size_t i;

	json_array_foreach(states, i, state)
	{
		const char *verdict = json_string_value(json_object_get(state, "verdict"));

		if (!verdict || strcmp(verdict, wanted)) {
			live_note("verdict %s", verdict ? verdict : "missing");
			return false;
		}
	}
	return i > 0;
}

static json_t *measure(void)
{
	const char *args[] = {"wake", "-C",  cpu_text, "--root", root,	   "--from", "4ms",
			      "--to", "4ms", "-n",     "25",	 "--json", NULL};

	return live_json(args);
}

static void judge_run(const char *what, const char *verdict, const char *note)
{
	json_t *run = measure();

	if (!live_ok(run != NULL, "%s: runs", what))
		return;
	if (!(live_number(run, "taken_total") > 0)) {
		live_skip(what, "CPU %d never idled at a launch", cpu);
		json_decref(run);
		return;
	}
	live_ok(all_verdicts(run, verdict), "%s: the verdict is %s", what, verdict);
	if (note)
		live_ok(live_has_note(run, note), "%s: it is told", what);
	json_decref(run);
}

static void test_verdicts(void)
{
	make_cpuidle(MOST);
	judge_run("cpuidle counts no entry", "not-entered", "never entered (by cpuidle)");
	make_counter("cstate_core", NEVER);
	judge_run("the core's counter stands still", "not-entered",
		  "never entered (by cstate_core)");
	make_counter("cstate_core", COUNTS);
	judge_run("the core slept", "within", NULL);
	make_counter("cstate_pkg", NEVER);
	judge_run("the package stayed awake", "core-only", "the package never slept");
	make_counter("cstate_pkg", COUNTS);
	judge_run("core and package slept", "within", NULL);
}

static bool disabled_are(const char *wanted)
{
	char found[FORCED + 1] = "", path[128];

	for (int state = 0; state < FORCED; state++) {
		FILE *file;

		snprintf(path, sizeof(path),
			 "%s/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable", root, cpu,
			 state);
		file = fopen(path, "re");
		found[state] = file ? (char)fgetc(file) : '?';
		if (file)
			fclose(file);
	}
	if (strcmp(found, wanted))
		live_note("disabled: %s", found);
	return !strcmp(found, wanted);
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
	const char *args[] = {"wake", "-C",  cpu_text, "--root", root,		 "--from", "4ms",
			      "--to", "4ms", "-n",     "20",	 "--each-state", "--json", NULL};
	char rounds[128];
	json_t *run;

	make_cpuidle(FORCED);
	for (int state = 0; state < FORCED; state++)
		put_state(state, "name", names[state]);
	put_state(2, "disable", "1");
	put("/run/made", "");
	run = live_json(args);
	if (!live_ok(run != NULL, "each state: runs"))
		return;
	rounds_of(run, rounds, sizeof(rounds));
	live_ok(live_number(run, "asked_total") == 5 * 20, "each state: five rounds of 20 points");
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

#define POINTS "100"

/*
 * Returns the number of voluntary context switches of a run whose sender is on another core. Each
 * voluntary switch of a thread precedes one wake-up of the thread.
 */
static long switches(const char *distance)
{
	const char *args[] = {"wake", "-s",	"remote", "-C",	  cpu_text, "--from", distance,
			      "--to", distance, "-n",	  POINTS, "--json", NULL};
	struct rusage before, after;
	json_t *run;

	getrusage(RUSAGE_CHILDREN, &before);
	run = live_json(args);
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
	snprintf(root, sizeof(root), "/tmp/subtick-depth-XXXXXX");
	if (!mkdtemp(root))
		live_fail_all("cannot make a directory");
	live_pin(other);
	test_each_state();
	test_verdicts();
	test_sender();
	snprintf(remove, sizeof(remove), "rm -r %s", root);
	if (system(remove))
		live_note("%s stays", root);
	return live_done();
}
