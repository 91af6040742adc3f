/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages to the log and to the service manager. */
#ifndef SUBTICK_SERVE_LOG_H
#define SUBTICK_SERVE_LOG_H

#include <stdint.h>

/* Writes one line to stderr. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

struct notify {
	int fd;		      /* socket of the service manager; -1 without a service manager */
	uint64_t watchdog_ns; /* watchdog timeout in ns; 0: no watchdog */
};

/* Connects to NOTIFY_SOCKET and reads WATCHDOG_USEC. Call it before sandbox_filter(). */
void notify_open(struct notify *notify);
/* Sends a state of sd_notify(3). No effect without a service manager. */
void notify_send(const struct notify *notify, const char *state);

#endif
