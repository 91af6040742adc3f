/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forks the helper, which watches, opens and sends files of runtimes, and does nothing else. */
#include "runtime_fd_helper.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"
#include "sandbox.h"
#include "sys/runtime_files.h"

static void forward(void *arg, unsigned int place, const char *id, int fd)
{
	int rc = runtime_channel_send(*(const int *)arg, place, id, fd);

	if (fd >= 0)
		close(fd);
	/* Too many descriptors on their way, or no memory: that name stays unknown. */
	if (rc == -EPIPE || rc == -ECONNRESET)
		_exit(0);
}

#define CHANNEL (STDERR_FILENO + 1)

/* BPF maps, sockets and files of the exporter are none of its business. */
static int close_others(int channel)
{
	if (channel != CHANNEL && dup2(channel, CHANNEL) < 0)
		return -errno;
	/* Before Linux 5.9 one by one. */
	if (close_range(CHANNEL + 1, ~0U, 0))
		for (int fd = CHANNEL + 1; fd < sysconf(_SC_OPEN_MAX); fd++)
			close(fd);
	return 0;
}

static _Noreturn void keep(int channel)
{
	struct runtime_files *files;
	struct err err = {0};
	bool all = false;

	prctl(PR_SET_NAME, "subtick-names", 0, 0, 0);
	/* It ends with the exporter, whatever a terminal sends to both. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (close_others(channel) || chdir("/") || runtime_files_open(NULL, &files))
		_exit(1);
	channel = CHANNEL;
	if (sandbox_reader(&err)) {
		log_line("no names from container runtimes: %s", err.what);
		_exit(1);
	}
	for (;;) {
		runtime_files_step(files, forward, &channel);
		if (!all && runtime_channel_send(channel, RUNTIME_NR_PLACES, NULL, -1))
			_exit(0);
		all = true;
		if (!runtime_files_wait(files, channel))
			_exit(0);
	}
}

int runtime_fd_helper_start(int *ret_channel, struct err *err)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(err, -errno, "cannot create a socket: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		close(pair[0]);
		keep(pair[1]);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return err_set(err, -errno, "cannot create a process: %s", strerror(errno));
	}
	*ret_channel = pair[0];
	return 0;
}
