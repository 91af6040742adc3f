/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that `subtick wake` reports an error in a PID namespace and in a cpuset that lack a
 * resource that subtick needs.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

#define NO_SUCH_PLACE 126
#define PATIENCE_S    20

static int cpu, other;
static char cpu_text[16];

static void wake_exec(const char *const more[])
{
	const char *subtick = getenv("SUBTICK") ?: SUBTICK_PATH;
	const char *argv[16] = {subtick,  "wake",  "-C",   cpu_text,
				"--from", "300us", "--to", "300us"};
	int nr = 8;

	freopen("/dev/null", "w", stdout);
	freopen("/dev/null", "w", stderr);
	for (int i = 0; more[i]; i++)
		argv[nr++] = more[i];
	execv(subtick, (char *const *)argv);
	_exit(127);
}

/*
 * Waits for the process to exit. Returns the exit code, or -1 if the test had to kill the process.
 */
static int wait_patiently(pid_t pid)
{
	int status;

	for (int i = 0; i < PATIENCE_S * 10; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		live_sleep_ms(100);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

/* Runs subtick as the first process of a new PID namespace. */
static int run_contained(const char *const more[])
{
	pid_t pid = fork(), inner;
	int status = 0;

	if (pid)
		return wait_patiently(pid);
	if (unshare(CLONE_NEWPID))
		_exit(NO_SUCH_PLACE);
	inner = fork();
	if (!inner)
		wake_exec(more);
	waitpid(inner, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/*
 * In a PID namespace, the kernel's thread IDs differ from the thread IDs that user space reads.
 * `subtick wake` must report an error instead of rejecting every point.
 */
static void test_contained(void)
{
	const char *const timer[] = {"-n", "5", NULL}, *const breakdown[] = {"-n", "5", "-b", NULL};
	const char *const remote[] = {"-n", "5", "--source", "remote", NULL};
	int plain = run_contained(timer);

	if (plain == NO_SUCH_PLACE) {
		live_skip("PID namespace", "this kernel has none");
		return;
	}
	live_ok(!plain, "PID namespace: source timer works");
	live_ok(run_contained(remote) == 77, "PID namespace: source remote is refused");
	live_ok(run_contained(breakdown) == 77, "PID namespace: --breakdown is refused");
}

/*
 * Creates a cpuset below @base that contains only the measured core. Returns the directory of the
 * cpuset, or NULL.
 */
static const char *make_cpuset(const char *base)
{
	static char dir[128];
	char path[160];

	snprintf(dir, sizeof(dir), "%s/subtick-wake-%d", base, getpid());
	if (mkdir(dir, 0755))
		return NULL;
	snprintf(path, sizeof(path), "%s/cpuset.cpus", dir);
	if (live_write(path, cpu_text)) {
		snprintf(path, sizeof(path), "%s/cpuset.mems", dir);
		if (live_write(path, "0"))
			return dir;
	}
	rmdir(dir);
	return NULL;
}

/*
 * The sender thread needs a core that the cpuset excludes. `subtick wake` must report an error and
 * must not hang.
 */
static void test_cpuset(void)
{
	const char *const remote[] = {"-n", "5", "--source", "remote", NULL};
	/*
	 * The cpuset is created in cgroup v1, or in v2 if the root cgroup enables the cpuset
	 * controller.
	 */
	const char *dir = make_cpuset("/sys/fs/cgroup/cpuset") ?: make_cpuset("/sys/fs/cgroup");
	char path[160];
	pid_t pid;
	int code;

	if (!dir) {
		live_skip("cpuset", "no cpuset hierarchy to make one in");
		return;
	}
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	pid = fork();
	if (!pid) {
		if (!live_write(path, "0"))
			_exit(NO_SUCH_PLACE);
		wake_exec(remote);
	}
	code = wait_patiently(pid);
	live_ok(code == 1, "cpuset: a sender that may not run there is an error (exit code %d)",
		code);
	for (int i = 0; i < 50 && rmdir(dir); i++)
		live_sleep_ms(20);
}

int main(void)
{
	if (geteuid())
		live_skip_all("needs root");
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	test_contained();
	test_cpuset();
	return live_done();
}
