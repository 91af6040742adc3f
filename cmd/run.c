/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handles signals, windows and output of every command that measures. */
#include "run.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "output.h"
#include "present/present.h"
#include "host/cpu.h"

static volatile sig_atomic_t stop_signal;
static sigset_t mask_outside;

static void on_signal(int number)
{
	stop_signal = number;
}

/* The signal handler does nothing, because the signal only has to interrupt the wait. */
static void on_resize(int number)
{
}

/* Blocks a signal except in run_wait(), even if the parent process blocked the signal. */
static void handle_signal(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigdelset(&mask_outside, number);
	sigaction(number, &action, NULL);
}

void run_signals(void)
{
	sigprocmask(SIG_BLOCK, NULL, &mask_outside);
	handle_signal(SIGINT, on_signal);
	handle_signal(SIGTERM, on_signal);
	/* SIGPIPE is ignored, so that a write to a closed pipe fails with EPIPE. */
	signal(SIGPIPE, SIG_IGN);
	/* The default timer slack of 50 µs is too large for measurement windows of 1 ms. */
	prctl(PR_SET_TIMERSLACK, 1UL);
}

void run_signals_screen(void)
{
	handle_signal(SIGHUP, on_signal);
	handle_signal(SIGWINCH, on_resize);
}

bool run_wait_input(uint64_t until_ns, struct pollfd *input)
{
	uint64_t now = clock_mono_ns();
	struct timespec left;

	input->revents = 0;
	if (stop_signal)
		return true;
	left = clock_timespec(until_ns > now ? until_ns - now : 0);
	if (ppoll(input, 1, &left, &mask_outside) < 0)
		input->revents = 0;
	return stop_signal != 0;
}

bool run_stopped(void)
{
	return stop_signal != 0;
}

bool run_wait_fd(uint64_t until_ns, int fd, bool *ret_readable)
{
	struct pollfd polled = {.events = POLLIN};
	bool stop;

	/*
	 * ppoll() is called even after the end of the window, because only ppoll() unblocks
	 * signals. Events after the end are ignored, because a stream of events could delay the end
	 * forever.
	 */
	do {
		polled.fd = clock_mono_ns() < until_ns ? fd : -1;
		stop = run_wait_input(until_ns, &polled);
		*ret_readable = polled.revents;
	} while (!stop && !*ret_readable && clock_mono_ns() < until_ns);
	return stop && !*ret_readable;
}

bool run_wait(uint64_t until_ns)
{
	bool readable;

	return run_wait_fd(until_ns, -1, &readable);
}

void run_avoid(const struct cpuset *measured)
{
	struct cpuset rest;

	if (!cpuset_count(measured) || affinity_get(0, &rest))
		return;
	cpuset_for_each(cpu, measured)
		cpuset_del(&rest, cpu);
	if (cpuset_count(&rest))
		affinity_set(0, &rest);
}

static int wait_window(const char *command, struct meter *meter, uint64_t until_ns,
		       struct view *view, struct err *err, bool *ret_stop)
{
	int fd = meter->ops->event_fd ? meter->ops->event_fd(meter) : -1;
	struct report *report;
	bool readable;
	int rc;

	for (;;) {
		*ret_stop = run_wait_fd(until_ns, fd, &readable);
		if (!readable)
			return 0;
		rc = meter->ops->event(meter, err) ?: present_events(command, meter, &report, err)
			?: output_report(view, report, err);
		if (rc)
			return rc;
	}
}

int run_windows(const char *command, struct meter *meter, const struct opts_interval *interval,
		struct view *view)
{
	struct report *report;
	struct err err = {0};
	uint64_t next;
	bool stop = false;
	int rc = meter->ops->start(meter, &err);

	next = clock_mono_ns();
	for (uint64_t done = 0; !rc && !stop && (!interval->count || done < interval->count);
	     done++) {
		next += interval->interval_ns;
		rc = wait_window(command, meter, next, view, &err, &stop)
			?: meter->ops->read(meter, &err)
			?: present_window(command, meter, &report, &err)
			?: output_report(view, report, &err);
		/* If a window ended late by more than the interval, the next window begins now. */
		if (clock_mono_ns() > next + interval->interval_ns)
			next = clock_mono_ns();
	}
	return err.code ? opts_fail(command, &err) : EXIT_SUCCESS;
}

int run_meter(const char *command, struct meter *meter, const struct opts_interval *interval,
	      struct view *view, const uint64_t *exceeded)
{
	int code = run_windows(command, meter, interval, view);

	if (code == EXIT_SUCCESS && exceeded && *exceeded)
		code = EXIT_VERDICT;
	meter->ops->close(meter);
	return code;
}
