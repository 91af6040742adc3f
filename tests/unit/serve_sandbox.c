/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that the system call filter allows every read of the collectors. */
#include "serve/sandbox/sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machines.h"
#include "measure/wake/env.h"
#include "serve/history_file.h"
#include "test.h"

#define NO_FILTER 77

/*
 * Runs @run in a child process, because a system call filter cannot be removed. The child process
 * must exit with 0. Skips the test if the kernel refuses the system call filter.
 */
static void in_child(void (*run)(const void *arg), const void *arg)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		run(arg);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_FILTER) {
		print_message("# this kernel refuses the filter\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Installs the filter. Exits the child if the kernel refuses the filter. */
static void filter(int history_dir)
{
	struct err err = {0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_filter(history_dir, &err))
		_exit(NO_FILTER);
}

static struct wake_env env;

static void end_window_filtered(const void *arg)
{
	filter(-1);
	wake_env_end(&env);
	_exit(!env.cpus[0].counted);
}

TREE_TEST(test_idle_counters)
{
	struct cpuset measured = {.bits = {1}};
	struct probe probe = {0};

	machine_laptop(tree, &probe);
	assert_int_equal(wake_env_open(&env, tree->root, 1, &measured, false, NULL), 0);
	wake_env_end(&env);
	assert_true(env.cpus[0].counted);
	in_child(end_window_filtered, NULL);
	wake_env_close(&env);
}

/* Exits with 0 if only the fcntl() commands of the exporter are allowed. */
static void try_fcntl(const void *arg)
{
	struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = getppid()};
	int fds[2], copy;

	if (pipe(fds))
		_exit(3);
	filter(-1);
	if (!fcntl(fds[0], F_SETSIG, SIGKILL) || !fcntl(fds[0], F_SETOWN, getppid()) ||
	    !fcntl(fds[0], F_SETOWN_EX, &owner) || !fcntl(fds[0], F_SETFL, O_ASYNC) ||
	    !fcntl(fds[0], F_SETLEASE, F_RDLCK) || !fcntl(fds[0], F_NOTIFY, DN_CREATE))
		_exit(1);
	copy = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
	_exit(copy < 0 || fcntl(copy, F_GETFL) < 0 ? 2 : 0);
}

TEST(test_fcntl)
{
	in_child(try_fcntl, NULL);
}

/* True if the kernel supports Landlock, which is checked before the filter is installed. */
static bool landlock;
static bool history; /* true if --history is set */

/* Exits with 0 if files can be written only in @dir, and only with --history. */
static void try_history(const void *root)
{
	char inside[80], outside[80];
	int dir, fd;
	struct err err = {0};

	snprintf(inside, sizeof(inside), "%s/history%d", (const char *)root, history);
	snprintf(outside, sizeof(outside), "%s/outside", (const char *)root);
	if (mkdir(inside, 0700) || (dir = open(inside, O_RDONLY | O_DIRECTORY)) < 0 ||
	    (fd = open(outside, O_RDWR | O_CREAT, 0600)) < 0)
		_exit(3);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || (history && sandbox_confine(dir, &err)))
		_exit(NO_FILTER);
	filter(history ? dir : -1);
	if (!history)
		_exit(openat(dir, "a", HISTORY_OPEN, 0600) >= 0 || !unlinkat(dir, "a", 0) || errno != EPERM ||
		      !ftruncate(fd, 0));
	/* Files can be opened only in the history directory, with O_NOFOLLOW, without O_TRUNC. */
	if (openat(AT_FDCWD, "a", HISTORY_OPEN, 0600) >= 0 ||
	    openat(dir, "a", HISTORY_OPEN | O_TRUNC, 0600) >= 0 ||
	    openat(dir, "a", HISTORY_OPEN & ~O_NOFOLLOW, 0600) >= 0 ||
	    openat(dir, "a", O_WRONLY) >= 0 || !mkdirat(dir, "b", 0700) || !unlinkat(AT_FDCWD, outside, 0) ||
	    !unlinkat(dir, "b", AT_REMOVEDIR))
		_exit(1);
	/*
	 * The system call filter cannot read paths. Landlock must refuse paths outside of the
	 * directory, if the kernel has Landlock.
	 */
	if (landlock && (openat(dir, outside, HISTORY_OPEN, 0600) >= 0 || errno != EACCES ||
			       openat(dir, "../b", HISTORY_OPEN, 0600) >= 0 || errno != EACCES ||
			       !unlinkat(dir, outside, 0) || errno != EACCES))
		_exit(4);
	fd = openat(dir, "a", HISTORY_OPEN, 0600);
	_exit(fd < 0 || write(fd, "x", 1) != 1 || ftruncate(fd, 0) || unlinkat(dir, "a", 0) ? 2 : 0);
}

TREE_TEST(test_history)
{
	/* landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) */
	landlock = syscall(444, NULL, 0, 1) > 0;
	for (int i = 0; i < 2; i++) {
		history = i;
		in_child(try_history, tree->root);
	}
}

TEST_MAIN()
