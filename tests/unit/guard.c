/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the guard process, which restores settings unless its parent has dismissed it. */
#include "test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/guard.h"

static char done_path[64];

/*
 * Writes the numbers of the guard's open descriptors to a file. The guard must have closed all
 * descriptors of its parent except @arg.
 */
static int leave_mark(const void *arg)
{
	const int *kept = arg;
	char new_path[80];
	int fd;

	snprintf(new_path, sizeof(new_path), "%s.new", done_path);
	fd = open(new_path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0)
		return -EIO;
	if (*kept >= 0 && fcntl(*kept, F_GETFD) < 0)
		return -EBADF;
	for (int other = 3; other < 64; other++)
		if (other != *kept && other != fd && fcntl(other, F_GETFD) >= 0 &&
		    write(fd, "open\n", 5) < 0)
			return -EIO;
	close(fd);
	/* Renames the complete list, because the test waits for a file with the final name. */
	return rename(new_path, done_path) ? -errno : 0;
}

static int always_fails(const void *arg)
{
	return -EIO;
}

static bool is_marked(void)
{
	return !access(done_path, F_OK);
}

static int setup(void **state)
{
	snprintf(done_path, sizeof(done_path), "/tmp/subtick-guard-test-%d", getpid());
	unlink(done_path);
	return 0;
}

static int teardown(void **state)
{
	unlink(done_path);
	return 0;
}

TEST_WITH(test_on_request, setup, teardown)
{
	struct guard guard = {0};
	int none = -1;

	assert_int_equal(guard_start(&guard, -1, leave_mark, &none), 0);
	assert_false(is_marked());
	assert_int_equal(guard_undo(&guard), 0);
	assert_true(is_marked());
	assert_int_equal(guard_undo(&guard), -EIO);
	assert_int_equal(guard_start(&guard, -1, always_fails, NULL), 0);
	assert_int_equal(guard_undo(&guard), -EIO);
}

TEST_WITH(test_dismissed, setup, teardown)
{
	struct guard guard = {0};
	int none = -1;

	assert_int_equal(guard_start(&guard, -1, leave_mark, &none), 0);
	guard_dismiss(&guard);
	assert_false(is_marked());
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST_WITH(test_after_sigkill, setup, teardown)
{
	char text[16] = "";
	int ready[2], kept;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		struct guard guard = {0};

		kept = dup(ready[0]);
		if (guard_start(&guard, kept, leave_mark, &kept) || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], text, 1), 1);
	assert_false(is_marked());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/*
	 * Polls for the guard's file: waitpid() cannot wait for the guard, which is not a child of
	 * the test.
	 */
	for (int i = 0; i < 1000 && !is_marked(); i++)
		usleep(10000);
	assert_true(is_marked());
	kept = open(done_path, O_RDONLY);
	/* The guard has only two open descriptors: `kept`, and the socket to its dead parent. */
	assert_int_equal(read(kept, text, sizeof(text)), 5);
	close(kept);
	close(ready[0]);
	close(ready[1]);
}

static void start_and_die(void)
{
	struct guard guard = {0};
	cpu_set_t one = {0};
	int none = -1;

	setpgid(0, 0);
	/*
	 * Bind parent and guard to one CPU, so that the guard usually runs only when the parent
	 * sleeps.
	 */
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (!guard_start(&guard, -1, leave_mark, &none))
		kill(0, SIGKILL);
	_exit(1);
}

/* A signal to the parent's process group, right after the start, does not kill the guard. */
TEST_WITH(test_after_group_sigkill, setup, teardown)
{
	for (int times = 0; times < 20; times++) {
		pid_t pid = fork();

		if (!pid)
			start_and_die();
		waitpid(pid, NULL, 0);
		for (int i = 0; i < 1000 && !is_marked(); i++)
			usleep(10000);
		assert_true(is_marked());
		unlink(done_path);
	}
}

TEST_MAIN()
