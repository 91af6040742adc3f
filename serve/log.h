/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log of the exporter. */
#ifndef SUBTICK_SERVE_LOG_H
#define SUBTICK_SERVE_LOG_H

/* To stderr, one line. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
