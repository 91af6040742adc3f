/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that `subtick wake` restores idle states after every kind of exit, and that its exit codes
 * match its verdicts.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge.h"
#include "live.h"

#define STATES 3
/* CPUIDLE_STATE_MAX of the kernel. */
#define MOST_STATES 10

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

static void make_state(int c, int state, const char *name, const char *claim_us,
		       const char *disable)
{
	const char *const files[][2] = {{"name", name},
					{"latency", claim_us},
					{"disable", disable},
					{"usage", "0\n"},
					{"time", "0\n"}};
	char path[128];

	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s", c,
			 state, files[f][0]);
		write_file(path, files[f][1]);
	}
}

/* Creates fake files of a cpuidle driver, because this machine may have no driver. */
static void make_machine(void)
{
	write_file("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
	/*
	 * Residency counters of C1 and C6, declared as a software event of perf that always counts.
	 * subtick therefore finds that the core entered C1 and C6.
	 */
	write_file("/sys/bus/event_source/devices/cstate_core/type", "1\n");
	write_file("/sys/bus/event_source/devices/cstate_core/events/c1-residency", "event=0x00\n");
	write_file("/sys/bus/event_source/devices/cstate_core/events/c6-residency", "event=0x00\n");
	write_file("/run/keep", "");
	for (int c = 0; c <= (cpu > other ? cpu : other); c++) {
		make_state(c, 0, "POLL\n", "100\n", "0\n");
		make_state(c, 1, "C1\n", "2\n", "0\n");
		make_state(c, 2, "C6\n", "100\n", c == cpu ? "1\n" : "0\n");
	}
}

/* Gives every idle state the name C1 and the claimed latency @us. */
static void make_claims(const char *us)
{
	for (int c = 0; c <= (cpu > other ? cpu : other); c++)
		for (int state = 0; state < MOST_STATES; state++)
			make_state(c, state, "C1\n", us, "0\n");
}

static char disabled(int state)
{
	char path[256], value = '?';
	int fd;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable",
		 root, cpu, state);
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
	execl(subtick, subtick, "wake", "--root", root, "--state", "C1", "-C", cpu_text,
	      (char *)NULL);
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

/*
 * Claimed latency of an idle state, and the exit code and verdict that the test expects. The
 * verdict of `subtick wake` depends on measured latencies.
 */
struct claimed {
	const char *us;
	int exit_code;
	const char *verdict;
};

/* Tests that the verdict of source passive depends on all windows, not only on the last window. */
static void measure_passive(void *arg, struct verdict *verdict)
{
	const char *args[] = {"wake",	   "--root",  root, "--source", "passive", "--json",
			      "--fail-on", "exceeds", "1",  "2",	NULL};
	const struct claimed *claimed = arg;
	struct live_run run;

	make_claims(claimed->us);
	live_run(args, &run);
	verdict_figure(verdict, run.exit_code == claimed->exit_code,
		       "passive: a claim of nothing is exceeded: exit code %d (got %d)",
		       claimed->exit_code, run.exit_code);
	live_run_free(&run);
}

static void measure_timer(void *arg, struct verdict *verdict)
{
	const char *args[] = {"wake",	"--root", root,	       "-C",	  cpu_text,
			      "--from", "300us",  "--to",      "300us",	  "-n",
			      "100",	"--json", "--fail-on", "exceeds", NULL};
	const struct claimed *claimed = arg;
	struct live_run run;

	make_claims(claimed->us);
	live_run(args, &run);
	verdict_figure(verdict, run.exit_code == claimed->exit_code,
		       "a claim of %.*s us: exit code %d (got %d)", (int)strcspn(claimed->us, "\n"),
		       claimed->us, claimed->exit_code, run.exit_code);
	verdict_figure(verdict, strstr(run.out, claimed->verdict) && strstr(run.out, "\"C1\""),
		       "and C1 is called %s", claimed->verdict);
	live_run_free(&run);
}

static void test_verdicts(void)
{
	const struct claimed nothing = {"0\n", 2, "\"exceeds\""},
			     much = {"1000000\n", 0, "\"within\""};
	/* At least one of 100 points must be valid, even on a busy core. */
	struct judge_opts opts = {
		.cpu = cpu,
		.limits = {.taken = 0.5, .waited = -1, .own_forks = UINT_MAX, .own_irqs = UINT_MAX},
		.measure = measure_timer,
		.arg = (void *)&nothing};

	judge(&opts);
	opts.measure = measure_passive;
	judge(&opts);
	opts.measure = measure_timer;
	opts.arg = (void *)&much;
	judge(&opts);
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
	make_machine();
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
