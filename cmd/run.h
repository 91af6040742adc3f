/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one loop that drives a measurement: signals, windows, output. */
#ifndef SUBTICK_CMD_RUN_H
#define SUBTICK_CMD_RUN_H

#include <poll.h>
#include <stdbool.h>

#include "measure/meter.h"
#include "opts.h"
#include "view/view.h"

/* Blocks SIGINT and SIGTERM until run_wait(), so that none is lost; call before opening. */
void run_signals(void);
/* Waits until CLOCK_MONOTONIC @until_ns or a signal; returns true when it is time to stop. */
bool run_wait(uint64_t until_ns);
/* As run_wait(), but returns false as soon as @fd is readable. @fd may be -1. */
bool run_wait_fd(uint64_t until_ns, int fd, bool *ret_readable);
bool run_stopped(void);

/* For the live screen: SIGHUP stops the run, SIGWINCH ends the wait. */
void run_signals_screen(void);
/* Waits until @until_ns, a signal or @input; returns true when it is time to stop. */
bool run_wait_input(uint64_t until_ns, struct pollfd *input);

/* Moves this process off @measured if it may use other CPUs, so that it does not measure itself. */
void run_avoid(const struct cpuset *measured);

/*
 * Starts @meter and prints a report per interval. A signal ends the window early and prints it.
 * Returns the exit code; if the reader of stdout has closed the pipe, it ends without a message.
 */
int run_windows(const char *command, struct meter *meter, const struct opts_interval *interval,
		struct view *view);
/* As run_windows(), and closes the meter. */
int run_meter(const char *command, struct meter *meter, const struct opts_interval *interval,
	      struct view *view);

#endif
