/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of live tests: TAP output, running subtick, detecting emulation. */
#ifndef SUBTICK_TESTS_LIVE_LIVE_H
#define SUBTICK_TESTS_LIVE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "subtick/load.h"

/* Prints one TAP line. Returns @passed. */
bool live_ok(bool passed, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* TAP result of a figure that depends on time. Under emulation the result is "ran, not judged". */
void live_figure(bool good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void live_skip(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints a comment line with figures that help to explain a failure. */
void live_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Skips the whole program with a reason and exit code 77. */
void live_skip_all(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Fails the whole program with one TAP line and the reason. */
void live_fail_all(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Prints the TAP plan. Returns the exit code of main(). */
int live_done(void);

/*
 * Scales a period for emulated guests (SUBTICK_EMULATED=1, set by the VM suite), where a timer and
 * its wake-up take a good part of a millisecond. Bounds are never scaled.
 */
uint64_t live_period(uint64_t period);
/* Number of repetitions: a tenth under emulation, which is ten times slower. */
int live_times(int times);
/*
 * CPU quota that a busy loop exhausts: @quota_us, or half of @period_us in an emulated guest. In an
 * emulated guest the loop is charged CPU time while the host runs other work. With a small quota
 * the loop would be throttled for longer than a window, and a wait counts only in the window in
 * which it ends.
 */
unsigned int live_quota_us(unsigned int quota_us, unsigned int period_us);
bool live_emulated(void);
/* True on PREEMPT_RT, where softirqs run in threads and never interrupt the idle loop. */
bool live_realtime(void);

struct live_run {
	int exit_code; /* -signal if a signal ended the process */
	char *out;
	char *err;
};

/* Arguments of subtick. */
#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs $SUBTICK (default: subtick in the build directory) with @args, NULL-terminated. */
void live_run(const char *const args[], struct live_run *ret_run);
void live_run_free(struct live_run *run);
/* Runs a command that must print nothing, exit with @code, and report an error with @says. */
void live_refused(const char *what, const char *const args[], int code, const char *says);
/* Starts subtick in a new process group. The output of subtick is read from @ret_fd. */
pid_t live_start(const char *const args[], int *ret_fd);
/*
 * Sends signal @number, if not 0, to the process group, reads the remaining output into @buf and
 * waits. Returns the exit code, or -signal.
 */
int live_stop(pid_t pid, int number, int fd, char *buf, size_t size);
/*
 * Runs a command that the test needs. Exit code 77 skips the whole program with subtick's reason.
 * Any other failure fails the program: a BPF program that a new kernel rejects is a defect.
 */
void live_needs(const char *const args[]);
/* Runs a command and parses the first line of its output as JSON. NULL on failure. */
json_t *live_json(const char *const args[]);
/* Number at a path such as "cpus.1.busy_ratio", or NAN if it is missing or null. */
double live_number(json_t *root, const char *path);
/* True if a note of the report contains @words. */
bool live_has_note(json_t *root, const char *words);

/*
 * Opens a load source. If the source is unavailable, returns NULL or, if @needed, fails the
 * program.
 */
struct subtick *live_source_event(const char *name, const char *event, bool needed);
struct subtick *live_source(const char *name, bool needed);
/* Ends a window of load. Fails the program on an error. */
void live_update(struct subtick *load);

/* Last window of one CPU as shares of the window. A part without a figure is -1.0. */
struct live_split {
	uint64_t window_ns;
	double busy, task, hardirq, softirq_on_idle, softirq_on_task, ksoftirqd, idle_loop;
	double poll_idle, idle, unknown, closure_error;
	uint64_t flags;
};

void live_split(const struct subtick *load, int cpu, struct live_split *ret_split);

/*
 * Chooses the CPU with the least load for the measurement and another CPU for the test itself.
 * False on a machine with one CPU.
 */
bool live_two_cpus(int *ret_measured, int *ret_other);
/*
 * Gives the caller real-time priority, so that other tasks do not delay it. Child processes of the
 * caller do not inherit the priority.
 */
void live_first(void);
void live_pin(int cpu);
void live_sleep_ms(unsigned int ms);

#endif
