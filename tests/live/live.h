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

/* One TAP line; returns @passed so that a test can stop at what makes the rest pointless. */
bool live_ok(bool passed, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* TAP result of a figure that depends on time. Under emulation: "ran, not judged". */
void live_figure(bool good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void live_skip(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A comment line: figures that help to understand a failure. */
void live_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Skips the whole program: prints the reason, exits 77. */
void live_skip_all(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Fails the whole program: one line that says why, and the end. */
void live_fail_all(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Prints the plan; the exit code of main(). */
int live_done(void);

/*
 * Under emulation (SUBTICK_EMULATED=1, set by the VM suite) no bound is relaxed: what depends on
 * time is not judged (judge.h). A timer with its wake-up costs a good part of a millisecond there,
 * so periods to keep are stretched.
 */
uint64_t live_period(uint64_t period);
/* Number of repetitions: a tenth under emulation, which is ten times slower. */
int live_times(int times);
/*
 * The quota of a period that a loop is to use up: @quota_us, but half of @period_us on an emulated
 * machine. To that one the loop runs on while the host has the core, and with little quota it then
 * waits for seconds to make up for that, longer than a window: waits count when they end.
 */
unsigned int live_quota_us(unsigned int quota_us, unsigned int period_us);
bool live_emulated(void);
/* PREEMPT_RT: softirqs run in threads, never on top of the idle loop. */
bool live_realtime(void);

struct live_run {
	int exit_code; /* -signal when killed */
	char *out;
	char *err;
};

/* Arguments of subtick. */
#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs $SUBTICK (default: subtick in the build directory) with @args, NULL-terminated. */
void live_run(const char *const args[], struct live_run *ret_run);
void live_run_free(struct live_run *run);
/* A run that must print nothing, fail with @code, and say why in a line that contains @says. */
void live_refused(const char *what, const char *const args[], int code, const char *says);
/* Starts it in a process group of its own, as a shell does; @ret_fd reads what it prints. */
pid_t live_start(const char *const args[], int *ret_fd);
/*
 * Sends signal @number, if not 0, to the whole group, as a terminal does; reads the rest into @buf
 * and waits. The exit code, -signal when killed.
 */
int live_stop(pid_t pid, int number, int fd, char *buf, size_t size);
/*
 * Required command. Exit code 77 of subtick skips the whole program with subtick's reason. Any
 * other failure is one of ours and fails it: a program that a new kernel rejects must not look like
 * a machine that lacks something.
 */
void live_needs(const char *const args[]);
/* Runs it and parses the first line of its output as JSON. NULL on failure or invalid JSON. */
json_t *live_json(const char *const args[]);
/* A member by path such as "cpus.1.busy_ratio"; NAN when missing or null. */
double live_number(json_t *root, const char *path);
/* Whether one of a report's notes has these words. */
bool live_has_note(json_t *root, const char *words);

/* Opens a load source, with @event or NULL. NULL if not @needed and unavailable; else fails the program. */
struct subtick *live_source_event(const char *name, const char *event, bool needed);
struct subtick *live_source(const char *name, bool needed);
/* Ends a window of load; fails the program on error. */
void live_update(struct subtick *load);

/* The last window of one CPU: shares of it, -1.0 without a figure. */
struct live_split {
	uint64_t window_ns;
	double busy, task, hardirq, softirq_on_idle, softirq_on_task, ksoftirqd, idle_loop;
	double poll_idle, idle, unknown, closure_error;
	uint64_t flags;
};

void live_split(const struct subtick *load, int cpu, struct live_split *ret_split);

/*
 * A CPU to measure, the one that others use least just now, and one for everything else; false on
 * a machine with one core.
 */
bool live_two_cpus(int *ret_measured, int *ret_other);
/*
 * Gives the caller real-time priority, so that a reader does not come late where others have its
 * core; what it starts has not.
 */
void live_first(void);
/* Idle and iowait of one CPU by /proc/stat, in ticks of 10 ms; -1 when it has no line. */
long long live_idle_ticks(int cpu);
void live_pin(int cpu);
void live_sleep_ms(unsigned int ms);

#endif
