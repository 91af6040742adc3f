/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Child processes that generate a known load. */
#ifndef SUBTICK_GEN_LOADS_H
#define SUBTICK_GEN_LOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct gen_child {
	pid_t pid;
	void *shared; /* memory shared with the child, initially zero */
	size_t size;
};

/*
 * Forks and calls @run with the shared memory in the child. The child runs on @cpu, or on any CPU
 * if @cpu is negative. The child exits when @run returns. The kernel kills the child when the
 * parent dies.
 */
int gen_child_start(struct gen_child *child, int cpu, size_t shared_size,
		    void (*run)(void *shared, void *arg), void *arg, struct err *err);
/* True if the child is running. A load generator exits before gen_child_stop() only on an error. */
bool gen_child_alive(const struct gen_child *child);
/*
 * True if the child is alive and still pinned to @cpu. If @cpu goes offline, the kernel moves the
 * child to another CPU for good.
 */
bool gen_child_on(const struct gen_child *child, int cpu);
/* Kills and reaps the child. gen_child_stop() may be called twice. */
void gen_child_stop(struct gen_child *child);

/* What the child of cpu_mix_start() does. */
enum cpu_mix_kind {
	/* the child runs an empty loop most of the time, and makes some failing system calls */
	CPU_MIX_USER,
	/* the child makes failing system calls most of the time, and runs some empty loops */
	CPU_MIX_SYSTEM,
	CPU_MIX_IDLE, /* the child runs an empty loop, and sleeps for changing times */
};

int cpu_mix_start(struct gen_child *mix, enum cpu_mix_kind kind, int cpu, struct err *err);

/* How the task waits between two burns (busy loops). */
enum duty_wait {
	DUTY_TIMER,
	/* the task waits for disk reads that bypass the page cache; the kernel counts iowait */
	DUTY_READ,
	DUTY_MESSAGE, /* the task waits for a message from a task on another core */
};

struct duty_opts {
	int cpu;
	int nice;
	enum duty_wait wait;
	int peer_cpu; /* core of the task that sends the messages of DUTY_MESSAGE */
	double duty;  /* share of each period that the task is busy, from 0 to 1 */
	uint64_t period_ns;
	/*
	 * If @locked is true, each burn starts @phase_ns after a multiple of the period on
	 * CLOCK_MONOTONIC. If the period is also a whole number of ticks, all burns begin at the
	 * same phase of the tick. If @locked is false, each burn starts at a random time within its
	 * period.
	 */
	bool locked;
	uint64_t phase_ns;
};

/*
 * Busy time and blocked time since the start, by the clock of the load generator. burn_ns is the
 * sum of all busy loops. The core is idle for less than the sleep time of the task, because idle
 * entry and idle exit take time.
 */
struct duty_usage {
	uint64_t at_ns; /* CLOCK_MONOTONIC time at the end of the last burn */
	uint64_t burn_ns;
	uint64_t cpu_ns;  /* CPU time by CLOCK_THREAD_CPUTIME_ID */
	uint64_t wait_ns; /* time blocked in DUTY_READ or DUTY_MESSAGE: wall time − CPU time */
	uint64_t cycles;
};

/*
 * Starts the duty-cycle generator. Sets err->unsupported if DUTY_READ is requested, but reads of
 * READ_FILE do not block.
 */
int duty_start(struct gen_child *duty, const struct duty_opts *opts, struct err *err);
/*
 * Gets busy time and blocked time of the generator up to the end of its last burn (busy loop).
 * Returns false before the end of the first burn.
 */
bool duty_read(const struct gen_child *duty, struct duty_usage *ret_usage);

struct sleep_loop_opts {
	int cpu;
	/* sleep time per iteration; if 0, each iteration makes a system call that fails at once */
	uint64_t delay_ns;
	uint64_t iterations; /* number of iterations, or 0 to run for @length_ns */
	uint64_t length_ns;
	uint64_t slack_ns; /* timer slack of the process, or 0 for the minimum of 1 ns */
};

/* Duration and CPU times of the sleep loop by the child's clocks. */
struct sleep_loop_result {
	uint64_t iterations;
	uint64_t real_ns;
	uint64_t user_ns; /* user time by getrusage() */
	uint64_t system_ns;
	uint64_t thread_ns; /* CPU time by CLOCK_THREAD_CPUTIME_ID */
	/* timer slack in effect; the kernel ignores the requested slack for real-time tasks */
	uint64_t slack_ns;
};

/* Starts the process of the sleep loop. The process sleeps until sleep_loop_go(). */
int sleep_loop_start(struct gen_child *loop, const struct sleep_loop_opts *opts, struct err *err);
void sleep_loop_go(struct gen_child *loop);
/* Ends the sleep loop early. */
void sleep_loop_halt(struct gen_child *loop);
/*
 * Returns true and the result if the sleep loop has ended. The process lives until
 * gen_child_stop().
 */
bool sleep_loop_done(const struct gen_child *loop, struct sleep_loop_result *ret_result);

#endif
