/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks that an interrupted audit prints its figures, and that a killed audit leaves no process
 * behind.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "live.h"

static char cpu_text[16];

/* Inode of the network namespace of process @pid, or 0 if the process has ended. */
static ino_t namespace_of(pid_t pid)
{
	char path[64];
	struct stat ns;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	return stat(path, &ns) ? 0 : ns.st_ino;
}

/*
 * Counts the processes in process group @group or in network namespace @namespace. Sets @ret_other
 * to the network namespace of a process of @group, if this namespace is not the test's own.
 */
static int count_left(pid_t group, ino_t namespace, ino_t *ret_other)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	int nr = 0;

	while (proc && (entry = readdir(proc))) {
		int pid = atoi(entry->d_name);
		ino_t one = pid > 0 ? namespace_of(pid) : 0;

		if (pid <= 0)
			continue;
		nr += getpgid(pid) == group || (one && one == namespace);
		if (getpgid(pid) == group && one && one != namespace_of(getpid()))
			*ret_other = one;
	}
	if (proc)
		closedir(proc);
	return nr;
}

/*
 * With a budget of 120 s, the first of the three loads of `audit ticks` has a time limit of 40 s.
 * The first load normally ends long before its time limit.
 */
static void check_ctrl_c(void)
{
	static char text[1 << 20];
	uint64_t begin = clock_mono_ns(), took;
	json_t *root;
	int fd, code;
	pid_t pid = live_start(
		ARGS("audit", "ticks", "--json", "--cpu", cpu_text, "--budget", "120s"), &fd);

	live_sleep_ms(2000);
	code = live_stop(pid, SIGINT, fd, text, sizeof(text));
	took = clock_mono_ns() - begin;
	root = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
	live_ok(!code && json_array_size(json_object_get(root, "sets")),
		"Ctrl-C prints what was measured");
	live_ok(took < 20 * NSEC_PER_SEC, "and ends it within the load that runs: %.1f s of 120",
		(double)took / 1e9);
	json_decref(root);
}

static void check_left_behind(int number, const char *how)
{
	static char text[1 << 20];
	ino_t flood = 0, other;
	int fd, code = 0, left = 1;
	pid_t pid = live_start(ARGS("audit", "ticks", "--cpu", cpu_text, "--budget", "6s"), &fd);

	for (int i = 0; i < 300 && !flood && getpgid(pid) == pid; i++) {
		siginfo_t info = {0};

		live_sleep_ms(100);
		/* The packet generator is a process with its own network namespace. */
		count_left(pid, 0, &flood);
		if (!waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid)
			break;
	}
	if (!flood) {
		live_stop(pid, SIGKILL, fd, text, sizeof(text));
		live_skip(how, "this machine cannot make the load with a namespace");
		return;
	}
	if (number == SIGKILL) {
		/*
		 * Kill only the main process of audit. The test checks that the child processes of
		 * audit exit after the main process was killed.
		 */
		kill(pid, SIGKILL);
		close(fd);
		waitpid(pid, NULL, 0);
	} else {
		code = live_stop(pid, number, fd, text, sizeof(text));
	}
	/* The last child process of audit may still be exiting, so wait up to 5 s. */
	for (int i = 0; i < 50 && left; i++) {
		live_sleep_ms(100);
		left = count_left(pid, flood, &other);
	}
	if (!live_ok(!left, "%s leaves no process and no network namespace behind", how))
		kill(-pid, SIGKILL);
	live_ok(access("/sys/class/net/stflood0", F_OK) && access("/sys/class/net/stflood1", F_OK),
		"%s leaves no link behind", how);
	if (number == SIGINT)
		live_ok(!code, "%s ends it well", how);
}

int main(void)
{
	int cpu, other;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs(ARGS("load", "--source", "bpf", "0.01", "1"));
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	check_ctrl_c();
	check_left_behind(SIGKILL, "SIGKILL");
	check_left_behind(SIGINT, "Ctrl-C");
	return live_done();
}
