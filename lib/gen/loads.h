/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Child processes that make a load of known size. */
#ifndef SUBTICK_GEN_LOADS_H
#define SUBTICK_GEN_LOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct gen_child {
	pid_t pid;
	void *shared; /* initially zero */
	size_t size;
};

/*
 * Forks and calls @run in the child, on @cpu (any if negative), with the shared memory. The child
 * exits when @run returns. It is killed when the parent dies, however it dies.
 */
int gen_child_start(struct gen_child *child, int cpu, size_t shared_size,
		    void (*run)(void *shared, void *arg), void *arg, struct err *err);
/* False if it has ended by itself, which happens only on an error. */
bool gen_child_alive(const struct gen_child *child);
/* Alive and still pinned to @cpu: if that goes offline, the kernel moves the child permanently. */
bool gen_child_on(const struct gen_child *child, int cpu);
/* Kills and reaps; safe to call twice. */
void gen_child_stop(struct gen_child *child);

enum cpu_mix_kind {
	CPU_MIX_USER,	/* mostly an empty loop, some system calls that fail at once */
	CPU_MIX_SYSTEM, /* mostly such calls, some empty loops */
	CPU_MIX_IDLE,	/* an empty loop, and sleeps of changing lengths */
};

int cpu_mix_start(struct gen_child *mix, enum cpu_mix_kind kind, int cpu, struct err *err);

/* What the task waits for between two burns. */
enum duty_wait {
	DUTY_TIMER,
	DUTY_READ,    /* reads that bypass the page cache: the kernel counts the wait as iowait */
	DUTY_MESSAGE, /* a message of a task on another core, which computes meanwhile */
};

struct duty_opts {
	int cpu;
	int nice; /* nice value of the task */
	enum duty_wait wait;
	int peer_cpu; /* core of the other task of DUTY_MESSAGE */
	double duty; /* 0…1 */
	uint64_t period_ns;
	/*
	 * Locked: each burn begins @phase_ns after a multiple of the period on CLOCK_MONOTONIC, so
	 * that with a period of whole ticks it keeps its phase relative to the tick. Otherwise each
	 * burn begins at a random time within its period.
	 */
	bool locked;
	uint64_t phase_ns;
	bool log; /* keep the stamps of the last DUTY_SLEEPS sleeps */
};

/*
 * Time that the generator used since its start, by its own clock. The core was busy for burn_ns.
 * It was not idle during the whole sleep: entering and leaving the kernel's idle state takes time
 * on both sides.
 */
struct duty_usage {
	uint64_t at_ns; /* CLOCK_MONOTONIC of these figures */
	uint64_t burn_ns;
	uint64_t cpu_ns; /* CLOCK_THREAD_CPUTIME_ID */
	uint64_t wait_ns; /* blocked in DUTY_READ or DUTY_MESSAGE: wall time − CPU time */
	uint64_t cycles;
};

#define DUTY_SLEEPS 32768

/* One sleep: the call, its deadline, and the first stamp after it. due_ns 0: no sleep. */
struct duty_sleep {
	uint64_t call_ns, due_ns, woke_ns;
};

/* err->unsupported: reads wait for no device here. */
int duty_start(struct gen_child *duty, const struct duty_opts *opts, struct err *err);
/* Usage up to the end of the last burn. False before the first burn has ended. */
bool duty_read(const struct gen_child *duty, struct duty_usage *ret_usage);
/* The sleep before burn number @cycle, as counted by duty_usage.cycles; only with opts->log. */
struct duty_sleep duty_sleep(const struct gen_child *duty, uint64_t cycle);

struct sleep_loop_opts {
	int cpu;
	uint64_t delay_ns;   /* 0: a call that fails at once, so the work without the sleep */
	uint64_t iterations; /* 0: run for @length_ns */
	uint64_t length_ns;
	uint64_t slack_ns; /* timer slack of the process; 0: 1 ns, the minimum */
};

/* By the child's own clocks at the start and the end of its loop. */
struct sleep_loop_result {
	uint64_t iterations;
	uint64_t real_ns;
	uint64_t user_ns; /* getrusage() */
	uint64_t system_ns;
	uint64_t thread_ns; /* CLOCK_THREAD_CPUTIME_ID */
	uint64_t slack_ns;  /* timer slack in use; the kernel ignores the setting for real-time tasks */
};

/* Starts the process; it sleeps until sleep_loop_go(). */
int sleep_loop_start(struct gen_child *loop, const struct sleep_loop_opts *opts, struct err *err);
void sleep_loop_go(struct gen_child *loop);
/* Ends the loop early, on Ctrl-C. */
void sleep_loop_halt(struct gen_child *loop);
/* True if the loop has ended and *@ret_result is set; the process then sleeps until stopped. */
bool sleep_loop_done(const struct gen_child *loop, struct sleep_loop_result *ret_result);

#endif
