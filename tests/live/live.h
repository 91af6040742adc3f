/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for live tests: TAP output, running subtick, detecting emulation. */
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
/* Prints the TAP result of a time. Under emulation the TAP result is "ran, not judged". */
void live_figure(bool good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Prints the TAP result of a claim that needs an idle @cpu. The claim is skipped if @good is false
 * and other tasks use more than half of @cpu now.
 */
void live_idle_ok(int cpu, bool good, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void live_skip(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints a TAP comment with figures that help to explain a failure. */
void live_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Skips the whole test program: prints a reason and exits with code 77. */
void live_skip_all(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Fails the whole test program: prints one TAP line with the reason. */
void live_fail_all(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Prints the TAP plan. Returns the exit code for main(). */
int live_done(void);

/*
 * Scales a period for emulated guests (SUBTICK_EMULATED=1, set by the VM suite). In an emulated
 * guest, a timer and its wake-up take a large part of a millisecond. Do not scale the bounds of a
 * test with live_period().
 */
uint64_t live_period(uint64_t period);
/*
 * Returns the number of repetitions: a tenth of @times under emulation, which is ten times slower.
 */
int live_times(int times);
/*
 * Returns a CPU quota that a busy loop exhausts: @quota_us, or half of @period_us in an emulated
 * guest. In an emulated guest the busy loop is charged CPU time while the host runs other work.
 * With a small quota, the loop would be throttled for longer than a window, and subtick would count
 * no wait in the window.
 */
unsigned int live_quota_us(unsigned int quota_us, unsigned int period_us);
bool live_emulated(void);
/* True on PREEMPT_RT kernels, where softirqs run in threads and never interrupt the idle loop. */
bool live_realtime(void);

struct live_run {
	int exit_code; /* exit code, or -signal if a signal ended the process */
	char *out;
	char *err;
};

/* NULL-terminated argument list for subtick. */
#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs $SUBTICK (default: subtick in the build directory) with the NULL-terminated @args. */
void live_run(const char *const args[], struct live_run *ret_run);
void live_run_free(struct live_run *run);
/*
 * Runs a command that must exit with @code, print nothing to stdout, and print an error message
 * that contains @says.
 */
void live_refused(const char *what, const char *const args[], int code, const char *says);
/* Starts subtick in a new process group. The caller reads the output of subtick from @ret_fd. */
pid_t live_start(const char *const args[], int *ret_fd);
/*
 * Sends signal @number to the process group, reads the remaining output into @buf, and waits for
 * the exit. A @number of 0 sends no signal. Returns the exit code, or -signal.
 */
int live_stop(pid_t pid, int number, int fd, char *buf, size_t size);
/*
 * Runs a subtick command that the test needs. If subtick exits with code 77, the test program is
 * skipped with subtick's reason. Every other exit code except 0 fails the test program: a BPF
 * program that a new kernel rejects is a defect.
 */
void live_needs(const char *const args[]);
/* Runs a command and parses the first line of its output as JSON. Returns NULL on failure. */
json_t *live_json(const char *const args[]);
/*
 * Returns the number at a JSON path such as "cpus.1.busy_ratio", or NAN if the number is missing or
 * null.
 */
double live_number(json_t *root, const char *path);
/* Returns the text of member @key, or "" if the member is missing or null. */
const char *live_text(const json_t *row, const char *key);
/* Returns the first row of @table in which member @key is @text, or NULL. */
json_t *live_row(const json_t *root, const char *table, const char *key, const char *text);
/* True if a note of the report contains @words. */
bool live_has_note(json_t *root, const char *words);

/*
 * Opens a source of `subtick load`. If the source is unavailable, returns NULL, or fails the test
 * program if @needed is true.
 */
struct subtick *live_source_event(const char *name, const char *event, bool needed);
struct subtick *live_source(const char *name, bool needed);
/* Ends a window of `subtick load`. Fails the test program on an error. */
void live_update(struct subtick *load);

/*
 * Time of one CPU in the last window, as shares of the window. A share that the source does not
 * measure is -1.0.
 */
struct live_split {
	uint64_t window_ns;
	double busy, task, hardirq, softirq_on_idle, softirq_on_task, ksoftirqd, idle_loop;
	double poll_idle, idle, unknown, closure_error;
	uint64_t flags;
};

void live_split(const struct subtick *load, int cpu, struct live_split *ret_split);

/*
 * Chooses the CPU with the most idle time for the measurement and another CPU for the test itself.
 * Returns false on a machine with one CPU.
 */
bool live_two_cpus(int *ret_measured, int *ret_other);
/*
 * Gives the calling task real-time priority, so that other tasks do not delay the calling task.
 * Child processes of the caller do not inherit the real-time priority.
 */
void live_first(void);
void live_pin(int cpu);
void live_sleep_ms(unsigned int ms);

/* Writes @text to a file that exists. */
bool live_write(const char *path, const char *text);

/* schedstat of a thread: run time, run delay, number of dispatches. */
struct live_schedstat {
	uint64_t ran_ns, waited_ns, dispatches;
};

/* Returns false if the thread has exited. */
bool live_schedstat(pid_t pid, struct live_schedstat *ret_stat);

#endif
