/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages to the log and to the service manager. */
#ifndef SUBTICK_SERVE_LOG_H
#define SUBTICK_SERVE_LOG_H

#include <stdint.h>

/* To stderr, one line. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

struct notify {
	int fd;		      /* -1: no service manager to notify */
	uint64_t watchdog_ns; /* 0: no watchdog */
};

/* Reads NOTIFY_SOCKET and WATCHDOG_USEC; connects while that is still allowed. */
void notify_open(struct notify *notify);
/* "READY=1", "STOPPING=1", "WATCHDOG=1", "RELOADING=1", "STATUS=…". */
void notify_send(const struct notify *notify, const char *state);
void notify_close(struct notify *notify);

#endif
