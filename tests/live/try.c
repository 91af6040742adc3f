/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests `subtick try` on cgroups of this machine. subtick must restore the changed setting after
 * every kind of exit.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"

#define KILLS	12
#define JOURNAL "/run/subtick/restore"

static const char *app, *batch, *file, *was, *now;
static char set[256], output[1 << 18];
static pid_t tasks[2];

static bool value_is(const char *cgroup, const char *value)
{
	char word[64];

	cgroups_read(cgroup, file, word);
	return !strcmp(word, value);
}

/*
 * Waits until two successive reads of the cgroup file return the changed value. A single read may
 * see the changed value that subtick writes and restores before the first round.
 */
static bool wait_value(const char *cgroup, const char *value)
{
	int seen = 0;

	for (int i = 0; i < 3000 && seen < 2; i++) {
		live_sleep_ms(10);
		seen = value_is(cgroup, value) ? seen + 1 : 0;
	}
	return seen == 2;
}

/*
 * Forks task @index on @cpu. Task 0 (the victim) works 0.5 ms of every 2.5 ms, and task 1 is always
 * busy.
 */
static void start_task(int index, const char *cgroup, int cpu)
{
	struct timespec pause = clock_timespec(2 * NSEC_PER_MSEC);

	tasks[index] = fork();
	if (tasks[index])
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	live_pin(cpu);
	cgroups_enter(cgroup, 0);
	for (;;) {
		uint64_t end;

		if (!index)
			nanosleep(&pause, NULL);
		end = clock_mono_ns() + NSEC_PER_MSEC / 2;
		while (clock_mono_ns() < end)
			;
	}
}

#define TRY(...)                                                                                 \
	ARGS("try", "--json", "--set", set, "--watch", app, "--rounds", "6", "--settle", "20ms", \
	     __VA_ARGS__)

static long journal_size(void)
{
	FILE *journal = fopen(JOURNAL, "re");
	long size = -1;

	if (!journal)
		return 0;
	if (!fseek(journal, 0, SEEK_END))
		size = ftell(journal);
	fclose(journal);
	return size;
}

/* True if the guard process has restored the cgroup file and emptied the journal. */
static bool all_restored(void)
{
	bool restored = wait_value(batch, was);

	for (int i = 0; i < 500 && journal_size(); i++)
		live_sleep_ms(10);
	return restored && !journal_size();
}

static json_t *effect_of(json_t *root, const char *cgroup, const char *figure)
{
	json_t *row;
	size_t i;

	json_array_foreach(
		json_object_get(root, "effects"), i,
		row) if (!strcmp(json_string_value(json_object_get(row, "cgroup")), cgroup) &&
			 !strcmp(json_string_value(json_object_get(row, "figure")),
				 figure)) return row;
	return NULL;
}

static void test_complete(void)
{
	json_t *root = live_json(TRY("--each", "200ms", "--seed", "7")), *wait, *pairs, *row;
	double sums[2] = {0}, causes[2] = {live_number(root, "causes.0.sum_ns"),
					   live_number(root, "causes.1.sum_ns")};
	bool fine = root;
	size_t i;

	if (!live_ok(root, "an experiment runs to its end"))
		return;
	wait = effect_of(root, app, "wait");
	pairs = json_object_get(root, "pairs");
	live_ok(json_is_true(json_object_get(root, "restored")) && value_is(batch, was),
		"the setting is restored");
	live_ok(!strcmp(json_string_value(json_object_get(
				json_array_get(json_object_get(root, "settings"), 0), "changed")),
			now),
		"the report has the changed value");
	live_ok(wait &&
			live_number(wait, "effect_low_ratio") <=
				live_number(wait, "effect_ratio") &&
			live_number(wait, "effect_ratio") <=
				live_number(wait, "effect_high_ratio") &&
			live_number(wait, "pairs_total") <= 6,
		"the effect lies in its interval");
	json_array_foreach(pairs, i, row)
	{
		if (strcmp(json_string_value(json_object_get(row, "cgroup")), app))
			continue;
		fine = fine &&
		       live_number(row, "pair") == (double)(i / (json_array_size(pairs) / 6) + 1);
		/*
		 * If the victim completes no wait in a round, the mean wait of the round is null.
		 */
		for (int arm = 0; arm < 2; arm++) {
			double count = live_number(row, arm ? "changed_count" : "original_count");

			if (count > 0)
				sums[arm] += count * live_number(row, arm ? "changed_wait_ns"
									  : "original_wait_ns");
		}
	}
	live_ok(fine && json_array_size(pairs) >= 6, "every round is in the report");
	/* Reported means are rounded to nanoseconds. */
	for (i = 0; i < 2; i++)
		live_ok(sums[i] > 0.999 * causes[i] && sums[i] < 1.001 * causes[i],
			"the waits of its rounds sum to the causes: %.0f of %.0f ns", sums[i],
			causes[i]);
	json_decref(root);
}

static void test_signal(int number, const char *name)
{
	json_t *root;
	int fd, code;
	pid_t pid = live_start(TRY("--each", "3s"), &fd);

	live_ok(wait_value(batch, now), "%s: the changed round begins", name);
	code = live_stop(pid, number, fd, output, sizeof(output));
	root = json_loads(output, 0, NULL);
	live_ok(!code && root && json_is_true(json_object_get(root, "restored")),
		"%s: ends with a report: exit code %d", name, code);
	live_ok(value_is(batch, was) && !journal_size(), "%s: the setting is restored", name);
	json_decref(root);
}

/*
 * Kills `subtick try` at several points in time, from its start to the middle of its rounds with
 * the original and the changed setting.
 */
static void test_kills(void)
{
	int restored = 0, nr = live_times(KILLS);

	for (int i = 0; i < nr; i++) {
		int fd;
		pid_t pid = live_start(TRY("--each", "50ms"), &fd);

		live_sleep_ms(i * 1200 / nr);
		live_stop(pid, SIGKILL, fd, output, sizeof(output));
		restored += all_restored();
	}
	live_ok(restored == nr, "SIGKILL at %d stages: restored after %d", nr, restored);
}

/* Kills the processes named subtick-guard whose parent is @parent. Returns their number. */
static int kill_guards(pid_t parent)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int killed = 0;

	while (proc && (entry = readdir(proc))) {
		char path[300], name[32];
		int pid, ppid;
		FILE *stat;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		stat = fopen(path, "re");
		if (stat && fscanf(stat, "%d (%31[^)]) %*c %d", &pid, name, &ppid) == 3 &&
		    ppid == parent && !strcmp(name, "subtick-guard"))
			killed += !kill(pid, SIGKILL);
		if (stat)
			fclose(stat);
	}
	if (proc)
		closedir(proc);
	return killed;
}

static void test_next_start(void)
{
	int fd, guards;
	struct live_run run;
	pid_t pid = live_start(TRY("--each", "3s"), &fd);

	live_ok(wait_value(batch, now), "without a guard: the changed round begins");
	guards = kill_guards(pid);
	live_stop(pid, SIGKILL, fd, output, sizeof(output));
	live_ok(guards == 1 && value_is(batch, now) && journal_size() > 0,
		"without a guard: %d killed, the setting stays changed", guards);
	live_run(ARGS("--version"), &run);
	live_ok(value_is(batch, was) && !journal_size() && strstr(run.err, "restored 1 settings"),
		"the next start of any command restores it: %s", strtok(run.err, "\n") ?: "");
	live_run_free(&run);
}

static void test_one_experiment(void)
{
	int fd;
	pid_t pid = live_start(TRY("--each", "3s"), &fd);

	live_ok(wait_value(batch, now), "two experiments: the first one runs");
	live_refused("a second experiment", TRY("--each", "50ms"), 1, "another subtick");
	live_ok(value_is(batch, now), "and changes nothing");
	live_stop(pid, SIGINT, fd, output, sizeof(output));
}

static void test_foreign(void)
{
	int fd, code;
	pid_t pid = live_start(TRY("--each", "500ms"), &fd);

	live_ok(wait_value(batch, now), "foreign change: the changed round begins");
	cgroups_write(batch, file, "77");
	code = live_stop(pid, 0, fd, output, sizeof(output));
	live_ok(code == 1 && value_is(batch, "77") && !journal_size(),
		"a foreign value ends the run and stays: exit code %d", code);
	cgroups_write(batch, file, was);
}

static void test_vanished(void)
{
	const char *gone = cgroups_make("try-gone");
	char setting[256];
	int fd, code;
	pid_t pid;

	snprintf(setting, sizeof(setting), "%s/%s=%s", gone, file, now);
	pid = live_start(ARGS("try", "--json", "--set", setting, "--watch", app, "--each", "500ms"),
			 &fd);
	live_ok(wait_value(gone, now), "vanished cgroup: the changed round begins");
	cgroups_remove(gone);
	code = live_stop(pid, 0, fd, output, sizeof(output));
	live_ok(code == 1 && !journal_size(), "the run ends: exit code %d", code);
}

/*
 * The command of option --a, which restores the original state, must run at the end of `subtick
 * try`, even after SIGKILL.
 */
static void test_commands(void)
{
	char a[128], b[128], path[64], text[8] = "";
	int fd, code, state;
	pid_t pid;

	snprintf(path, sizeof(path), "/tmp/subtick-try-%d", getpid());
	snprintf(a, sizeof(a), "echo a > %s", path);
	snprintf(b, sizeof(b), "echo b > %s", path);
	for (int round = live_emulated(); round < 2; round++) {
		pid = live_start(
			ARGS("try", "--json", "--a", a, "--b", b, "--watch", app, "--each", "2s"),
			&fd);
		for (int i = 0; i < 3000 && text[0] != 'b'; i++) {
			live_sleep_ms(10);
			state = open(path, O_RDONLY | O_CLOEXEC);
			if (state >= 0 && read(state, text, 1) == 1)
				text[1] = '\0';
			close(state);
		}
		code = live_stop(pid, round ? SIGKILL : SIGTERM, fd, output, sizeof(output));
		for (int i = 0; i < 500 && text[0] != 'a'; i++) {
			live_sleep_ms(10);
			state = open(path, O_RDONLY | O_CLOEXEC);
			if (state >= 0 && read(state, text, 1) == 1)
				text[1] = '\0';
			close(state);
		}
		live_ok(code == (round ? -SIGKILL : 0) && text[0] == 'a',
			"%s: command a makes the original state again: exit code %d",
			round ? "SIGKILL" : "SIGTERM", code);
	}
	unlink(path);
}

/*
 * Tests `subtick try --from-finding`, which reads setting and victim from a finding in saved output
 * of `subtick overview`. One run with --from-finding has option --plot, which draws the rounds.
 */
static void test_from_finding(void)
{
	char saved[64], plot[64], text[16] = "";
	FILE *out;
	json_t *root;

	snprintf(saved, sizeof(saved), "/tmp/subtick-try-%d.json", getpid());
	snprintf(plot, sizeof(plot), "/tmp/subtick-try-%d.svg", getpid());
	out = fopen(saved, "we");
	fprintf(out,
		"{\"schema\":\"subtick.overview/"
		"1\",\"time_unix_ns\":1,\"window_ns\":1,\"source\":null,"
		"\"findings\":[{\"rule\":\"a\",\"next_setting\":null,\"victim\":null},"
		"{\"rule\":\"b\",\"next_setting\":\"%s\",\"victim\":\"%s\"}],"
		"\"quality\":{},\"notes\":[]}\n",
		set, app);
	fclose(out);
	live_refused("a finding without a setting",
		     ARGS("try", "--from-finding", "1", "--from", saved), 1, "no setting");
	live_refused("a finding that does not exist",
		     ARGS("try", "--from-finding", "3", "--from", saved), 1, "2 findings");
	root = live_json(ARGS("try", "--json", "--from-finding", "2", "--from", saved, "--plot",
			      plot, "--rounds", "6", "--each", "50ms"));
	live_ok(effect_of(root, app, "wait") && value_is(batch, was),
		"the setting of a finding is tried on its victim");
	out = fopen(plot, "re");
	live_ok(out && fgets(text, 5, out) && !strcmp(text, "<svg"), "and drawn");
	if (out)
		fclose(out);
	json_decref(root);
	unlink(saved);
	unlink(plot);
}

static void test_refused(void)
{
	char other[256], range[256], same[256];

	snprintf(other, sizeof(other), "%s/%s=50", batch,
		 cgroups_v2() ? "cpu.shares" : "cpu.weight");
	snprintf(range, sizeof(range), "%s/%s=much", batch, file);
	snprintf(same, sizeof(same), "%s/%s=%s", batch, file, was);
	live_refused("a file of the other version", ARGS("try", "--set", other, "--watch", app), 64,
		     cgroups_v2() ? "use cpu.weight" : "use cpu.shares");
	live_refused("a value out of range", ARGS("try", "--set", range, "--watch", app), 1,
		     "out of range");
	live_refused("the value it has", ARGS("try", "--set", same, "--watch", app), 1, "already");
	live_refused("nothing to watch", ARGS("try", "--set", set), 64, "nothing to watch");
	live_refused("a cgroup that does not exist",
		     ARGS("try", "--set", set, "--watch", "/subtick-none"), 1, "nothing to watch");
	live_refused("too little budget", TRY("--budget", "1s"), 64, "--budget is 1 s");
	live_ok(value_is(batch, was) && !journal_size(), "and nothing has changed");
}

int main(void)
{
	int cpu, other;

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs(ARGS("runq", "--blame", "10ms", "1"));
	app = cgroups_make("try-app");
	batch = cgroups_make("try-batch");
	file = cgroups_v2() ? "cpu.weight" : "cpu.shares";
	was = cgroups_v2() ? "100" : "1024";
	now = cgroups_v2() ? "10" : "64";
	snprintf(set, sizeof(set), "%s/%s=%s", batch, file, now);
	start_task(0, app, cpu);
	start_task(1, batch, cpu);
	test_complete();
	test_signal(SIGINT, "SIGINT");
	/* Each start of subtick takes seconds in an emulated guest. */
	if (!live_emulated())
		test_signal(SIGTERM, "SIGTERM");
	test_kills();
	test_next_start();
	test_one_experiment();
	test_foreign();
	test_vanished();
	test_commands();
	test_from_finding();
	test_refused();
	for (int i = 0; i < 2; i++) {
		kill(tasks[i], SIGKILL);
		waitpid(tasks[i], NULL, 0);
	}
	return live_done();
}
