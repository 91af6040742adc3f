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

/* Number of processes in a process group, and number of network namespaces on the machine. */
struct process_counts {
	int groups, namespaces;
};

static bool seen_before(ino_t *seen, int nr, ino_t one)
{
	for (int i = 0; i < nr; i++)
		if (seen[i] == one)
			return true;
	return false;
}

static struct process_counts look(pid_t group)
{
	struct process_counts counts = {0};
	ino_t seen[256];
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	while (proc && (entry = readdir(proc))) {
		int pid = atoi(entry->d_name);
		char path[64];
		struct stat ns;

		if (pid <= 0)
			continue;
		counts.groups += getpgid(pid) == group;
		snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
		if (!stat(path, &ns) && counts.namespaces < 256 &&
		    !seen_before(seen, counts.namespaces, ns.st_ino))
			seen[counts.namespaces++] = ns.st_ino;
	}
	if (proc)
		closedir(proc);
	return counts;
}

/* True if the packet generator runs: a process of @group with its own network namespace. */
static bool flood_runs(pid_t group)
{
	struct dirent *entry;
	struct stat own, ns;
	DIR *proc = opendir("/proc");
	bool found = false;

	stat("/proc/self/ns/net", &own);
	while (proc && !found && (entry = readdir(proc))) {
		int pid = atoi(entry->d_name);
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
		found = pid > 0 && getpgid(pid) == group && !stat(path, &ns) &&
			ns.st_ino != own.st_ino;
	}
	if (proc)
		closedir(proc);
	return found;
}

/*
 * The first load normally ends much earlier than its time limit, which is 40 s in a budget of 120
 * s.
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
	struct process_counts after = {.groups = 1};
	bool flood = false;
	int fd, code = 0;
	pid_t pid = live_start(ARGS("audit", "ticks", "--cpu", cpu_text, "--budget", "6s"), &fd);

	for (int i = 0; i < 300 && !flood && getpgid(pid) == pid; i++) {
		siginfo_t info = {0};

		live_sleep_ms(100);
		flood = flood_runs(pid);
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
		 * Kills only the parent process. The test checks that the child processes exit
		 * after their parent was killed.
		 */
		kill(pid, SIGKILL);
		close(fd);
		waitpid(pid, NULL, 0);
	} else {
		code = live_stop(pid, number, fd, text, sizeof(text));
	}
	/* The last child process may still be exiting, so wait up to 5 s. */
	for (int i = 0; i < 50 && after.groups; i++) {
		live_sleep_ms(100);
		after = look(pid);
	}
	if (!live_ok(!after.groups, "%s leaves no process behind", how))
		kill(-pid, SIGKILL);
	live_ok(access("/sys/class/net/stflood0", F_OK) && access("/sys/class/net/stflood1", F_OK),
		"%s leaves no link behind", how);
	if (number == SIGINT)
		live_ok(!code, "%s ends it well", how);
}

int main(void)
{
	struct process_counts before, after;
	int cpu, other;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs(ARGS("load", "--source", "bpf", "0.01", "1"));
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	before = look(getpid());
	check_ctrl_c();
	check_left_behind(SIGKILL, "SIGKILL");
	check_left_behind(SIGINT, "Ctrl-C");
	for (int i = 0; i < 20; i++) {
		after = look(getpid());
		if (after.namespaces <= before.namespaces)
			break;
		/*
		 * Other programs may create and remove network namespaces during the test, so count
		 * up to 20 times.
		 */
		live_sleep_ms(500);
	}
	live_ok(after.namespaces <= before.namespaces,
		"as many network namespaces as before: %d, %d", before.namespaces,
		after.namespaces);
	return live_done();
}
