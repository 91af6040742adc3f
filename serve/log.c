/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes log lines, and sends notifications to systemd without libsystemd. */
#include "serve/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/file.h"

void log_line(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	/* One system call per line, so that the lines of two threads do not mix. */
	dprintf(STDERR_FILENO, "subtick serve: %s\n", line);
}

void notify_open(struct notify *notify)
{
	const char *path = getenv("NOTIFY_SOCKET"), *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	socklen_t len;

	*notify = (struct notify){.fd = -1};
	if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(sun.sun_path))
		return;
	strcpy(sun.sun_path, path);
	len = offsetof(struct sockaddr_un, sun_path) + strlen(path);
	/* In NOTIFY_SOCKET, @ stands for the leading NUL of an abstract socket name. */
	if (path[0] == '@')
		sun.sun_path[0] = '\0';
	notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (notify->fd < 0)
		return;
	if (connect(notify->fd, (const struct sockaddr *)&sun, len)) {
		fd_close(&notify->fd);
		return;
	}
	if (usec && (!pid || strtol(pid, NULL, 10) == getpid()))
		notify->watchdog_ns = strtoull(usec, NULL, 10) * 1000;
}

void notify_send(const struct notify *notify, const char *state)
{
	if (notify->fd >= 0 && send(notify->fd, state, strlen(state), MSG_NOSIGNAL) < 0)
		return;
}
