/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forks and runs the guard process, which reverts changes if its parent dies. */
#include "host/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/file.h"

/* Main function of the guard: waits until the parent dismisses the guard or dies. */
static void __attribute__((noreturn))
guard_main(int parent_fd, int fd, int (*undo)(const void *arg), const void *arg)
{
	int null = open("/dev/null", O_RDWR);
	char byte = 0;
	ssize_t len;

	/* In a new session the guard receives no Ctrl-C and no hang-up signal of the terminal. */
	setsid();
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_NAME, "subtick-guard");
	for (int standard = 0; standard < 3 && null >= 0; standard++)
		dup2(null, standard);
	sys_close_others(parent_fd, fd);
	send(parent_fd, &byte, 1, MSG_NOSIGNAL);
	do
		len = read(parent_fd, &byte, 1);
	while (len < 0 && errno == EINTR);
	_exit(len != 1 && undo(arg) ? 1 : 0);
}

int guard_start(struct guard *guard, int fd, int (*undo)(const void *arg), const void *arg)
{
	int ends[2], rc;
	ssize_t len;
	char ready;
	pid_t pid;

	/* Use a socket, because send() with MSG_NOSIGNAL raises no SIGPIPE if the reader died. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	rc = pid < 0 ? -errno : 0;
	if (!pid) {
		close(ends[1]);
		guard_main(ends[0], fd, undo, arg);
	}
	close(ends[0]);
	/* Wait until the guard has left the process group, so that no group signal kills it. */
	do
		len = rc ? -1 : read(ends[1], &ready, 1);
	while (!rc && len < 0 && errno == EINTR);
	if (!rc && len != 1) {
		waitpid(pid, NULL, 0);
		rc = -EIO;
	}
	if (rc) {
		close(ends[1]);
		return rc;
	}
	*guard = (struct guard){.pid = pid, .fd = ends[1]};
	return 0;
}

static int guard_end(struct guard *guard)
{
	int status = -1;

	close(guard->fd);
	while (waitpid(guard->pid, &status, 0) < 0 && errno == EINTR)
		;
	guard->pid = 0;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

void guard_dismiss(struct guard *guard)
{
	if (!guard->pid)
		return;
	if (send(guard->fd, "q", 1, MSG_NOSIGNAL) != 1)
		kill(guard->pid, SIGKILL);
	guard_end(guard);
}

int guard_undo(struct guard *guard)
{
	return guard->pid ? guard_end(guard) : -EIO;
}
