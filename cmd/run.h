/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loop of every command that measures: signals, windows, output. */
#ifndef SUBTICK_CMD_RUN_H
#define SUBTICK_CMD_RUN_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/meter.h"
#include "opts.h"
#include "view/view.h"

/* Blocks SIGINT and SIGTERM except in run_wait(). Call run_signals() before a meter is opened. */
void run_signals(void);
/* Waits until CLOCK_MONOTONIC @until_ns. Returns true after SIGINT or SIGTERM. */
bool run_wait(uint64_t until_ns);
/* Waits until @until_ns or until @fd (-1: none) is readable. Returns true after a stop signal. */
bool run_wait_fd(uint64_t until_ns, int fd, bool *ret_readable);
bool run_stopped(void);

/* Handles the signals of the live screen: SIGHUP stops the run, SIGWINCH ends run_wait_input(). */
void run_signals_screen(void);
/* Waits until @until_ns, a signal or an event of @input. Returns true after a stop signal. */
bool run_wait_input(uint64_t until_ns, struct pollfd *input);

/*
 * Moves this process to allowed CPUs outside @measured, so that subtick does not measure itself. If
 * @measured contains all allowed CPUs, the process stays on its CPUs.
 */
void run_avoid(const struct cpuset *measured);

/*
 * Starts @meter and prints one report per interval. A stop signal ends the current window early and
 * prints its report. A closed stdout pipe ends the run without a message. Returns the exit code.
 */
int run_windows(const char *command, struct meter *meter, const struct opts_interval *interval,
		struct view *view);
/*
 * Calls run_windows() and closes the meter. @exceeded points to a number in the meter's window, or
 * is NULL. If *@exceeded is above 0 after the last window, returns EXIT_VERDICT instead of
 * EXIT_SUCCESS.
 */
int run_meter(const char *command, struct meter *meter, const struct opts_interval *interval,
	      struct view *view, const uint64_t *exceeded);

#endif
