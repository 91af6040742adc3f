/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forced idle states come back however subtick wake ends; verdicts and their exit code. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

#define STATES 3

static char root[64];
static int cpu, other;
static char cpu_text[16];

static void write_file(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "we");
	if (!file || fputs(text, file) < 0 || fclose(file)) {
		perror(full);
		exit(1);
	}
}

/* A driver's files where this machine may have none; state 1 is what the kernel asks for then. */
static void make_machine(const char *claim_us)
{
	static const char *const names[STATES] = {"POLL\n", "C1\n", "C6\n"};
	char path[128];

	write_file("/sys/devices/system/cpu/cpuidle/current_driver", "fake_idle\n");
	write_file("/run/keep", "");
	for (int c = 0; c <= (cpu > other ? cpu : other); c++)
		for (int i = 0; i < STATES; i++) {
			const char *const files[][2] = {{"name", names[i]},
							{"latency", i == 1 ? claim_us : "100\n"},
							{"disable", i == 2 && c == cpu ? "1\n" : "0\n"},
							{"usage", "0\n"},
							{"time", "0\n"}};

			for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
				snprintf(path, sizeof(path),
					 "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s", c, i,
					 files[f][0]);
				write_file(path, files[f][1]);
			}
		}
}

static char disabled(int state)
{
	char path[256], value = '?';
	int fd;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable", root,
		 cpu, state);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &value, 1) != 1)
		value = '?';
	close(fd);
	return value;
}

static bool disables_are(const char *want)
{
	for (int i = 0; i < STATES; i++)
		if (disabled(i) != want[i])
			return false;
	return true;
}

static bool wait_disables(const char *want)
{
	for (int i = 0; i < 500 && !disables_are(want); i++)
		live_sleep_ms(10);
	return disables_are(want);
}

static pid_t start(void)
{
	const char *subtick = getenv("SUBTICK") ?: SUBTICK_PATH;
	pid_t pid = fork();

	if (pid)
		return pid;
	freopen("/dev/null", "w", stdout);
	freopen("/dev/null", "w", stderr);
	execl(subtick, subtick, "wake", "--root", root, "--state", "C1", "-C", cpu_text, (char *)NULL);
	_exit(127);
}

static void test_ends(int signal_nr, const char *name)
{
	pid_t pid = start();
	int status = 0;

	live_ok(wait_disables("101"), "%s: C1 alone is allowed during the run", name);
	kill(pid, signal_nr);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (signal_nr == SIGKILL)
		live_ok(WIFSIGNALED(status), "%s: ended by the signal", name);
	else
		live_ok(WIFEXITED(status) && !WEXITSTATUS(status), "%s: ended in order", name);
	live_ok(wait_disables("001"), "%s: every file is as it was", name);
}

/* Again while the core had no chance to idle. */
static void run_until_points(const char *const args[], struct live_run *ret_run)
{
	for (int i = 0; i < 10; i++) {
		if (i) {
			live_run_free(ret_run);
			live_wait_idle(cpu);
		}
		live_run(args, ret_run);
		if (!strstr(ret_run->out, "\"states\":[]"))
			return;
	}
}

/* The passive source's windows count as well, and not only the last of them. */
static void test_passive_verdict(void)
{
	const char *args[] = {"wake", "--root", root, "--source", "passive", "--json", "--fail-on",
			      "exceeds", "1", "2", NULL};
	struct live_run run;

	run_until_points(args, &run);
	live_ok(run.exit_code == 2, "passive: a claim of nothing is exceeded: exit code 2 (got %d)",
		run.exit_code);
	live_run_free(&run);
}

static void test_verdicts(void)
{
	const char *args[] = {"wake", "--root", root, "-C",   cpu_text,	 "--from",  "300us", "--to",
			      "300us", "-n",	 "100", "--json", "--fail-on", "exceeds", NULL};
	struct live_run run;

	if (!live_wait_idle(cpu)) {
		live_skip("verdicts", "something else keeps CPU %d busy all the time", cpu);
		return;
	}
	make_machine("0\n");
	run_until_points(args, &run);
	live_ok(run.exit_code == 2, "a claim of nothing is exceeded: exit code 2 (got %d)",
		run.exit_code);
	live_ok(strstr(run.out, "\"exceeds\"") && strstr(run.out, "\"C1\""), "and the state is named");
	live_run_free(&run);
	test_passive_verdict();
	make_machine("1000000\n");
	run_until_points(args, &run);
	live_ok(run.exit_code == 0 && strstr(run.out, "\"within\""), "a second is within: exit code 0");
	live_run_free(&run);
}

static void test_refused(void)
{
	const char *unknown[] = {"wake", "--root", root, "--state", "C9", "-C", cpu_text, NULL};
	const char *nic[] = {"wake", "--source", "nic", "--device", "lo", "-C", cpu_text, NULL};
	struct live_run run;

	live_run(unknown, &run);
	live_ok(run.exit_code == 77 && strstr(run.err, "POLL, C1, C6"),
		"an unknown state is refused with those there are");
	live_run_free(&run);
	live_run(nic, &run);
	live_ok(run.exit_code == 77 && strstr(run.err, "i210"),
		"source nic without a card: exit code 77 and what to buy");
	live_run_free(&run);
	live_ok(disables_are("001"), "and nothing has changed");
}

int main(void)
{
	char command[128];

	if (geteuid())
		live_skip_all("needs root");
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	snprintf(root, sizeof(root), "/tmp/subtick-wake-root-%d", getpid());
	mkdir(root, 0755);
	make_machine("2\n");
	test_ends(SIGKILL, "SIGKILL");
	test_ends(SIGINT, "SIGINT");
	test_ends(SIGTERM, "SIGTERM");
	test_refused();
	test_verdicts();
	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		live_note("%s could not be removed", root);
	return live_done();
}
