/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declarations of bench-cost, the program of tests/bench/cost that runs in the guest: workloads,
 * commands, empty BPF programs, and instructions per operation.
 */
#ifndef SUBTICK_TESTS_BENCH_VIRTUAL_COST_H
#define SUBTICK_TESTS_BENCH_VIRTUAL_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COST_MAX_EVENTS	  128
/*
 * The mean excludes operations that take more instructions than the most frequent value plus
 * COST_REACH, or fewer instructions than the most frequent value minus 100. During an excluded
 * operation the kernel did additional work, such as a tick. Two code paths of one BPF program
 * differ by fewer than COST_REACH instructions.
 */
#define COST_REACH	  700
#define COST_MAX_COMMANDS 4

/* Instructions per operation: one instruction takes one nanosecond of the guest's clock. */
struct cost_figure {
	double typical;	  /* most frequent number of instructions */
	double mean;	  /* mean instructions, without the operations that COST_REACH excludes */
	double error;	  /* standard error of @mean */
	double share;	  /* share of operations that take @typical instructions */
	double low, high; /* quartiles of the instructions of an operation */
	size_t nr;
};

struct cost_workload {
	const char *name;
	/* Runs and measures the workload. Returns 0 or -errno. */
	int (*run)(struct cost_figure *ret_figure);
};

/*
 * If cost_long is true, a round of the workloads idle and wakeup measures 2,000 windows instead of
 * 120. cost_long is true for commands with --sample and for measurements without a command. With
 * 120 windows the mean of a command with --sample has a standard error of 10 instructions.
 */
extern bool cost_long;

extern const struct cost_workload cost_workloads[];
extern const size_t cost_nr_workloads;

/* Workloads in windows.c, which run on CPU 1 and are measured on CPU 0. */
int cost_run_wakeup(struct cost_figure *ret_figure);
int cost_run_interrupt(struct cost_figure *ret_figure);
int cost_run_idle(struct cost_figure *ret_figure);

/*
 * Sorted names of tracepoints that have BPF programs. @names has a tracepoint twice if two BPF
 * programs are attached to the tracepoint.
 */
struct cost_events {
	char names[COST_MAX_EVENTS][64];
	size_t nr;
	size_t nr_other; /* number of BPF links that are not on tracepoints */
};

void cost_events_now(struct cost_events *ret_events);
bool cost_events_equal(const struct cost_events *a, const struct cost_events *b);

/*
 * Attaches an empty BPF program to each tracepoint of @events. Returns 0 or -errno.
 * cost_empty_detach() detaches the BPF programs.
 */
int cost_empty_attach(const struct cost_events *events);
void cost_empty_detach(void);

/* Running commands whose BPF programs stay attached during the workloads. */
struct cost_attached {
	pid_t pids[COST_MAX_COMMANDS];
	size_t nr;
};

/*
 * Starts the commands of @line, separated by " & ", on CPU 0, and waits until all commands sleep.
 * On failure returns -errno and writes the reason to @why.
 */
int cost_attached_start(struct cost_attached *attached, const char *line, char *why, size_t size);
void cost_attached_stop(struct cost_attached *attached);

/*
 * Measures the mean number of instructions per processor and window of 1 s that the exporter @pid
 * executes without scrapes. All other processors must be idle, because the clock counts the
 * instructions of all processors.
 */
int cost_rest(pid_t pid, double *ret_mean);

/*
 * Computes the figure of a workload from the numbers of instructions of @nr operations. Sorts
 * @values.
 */
struct cost_figure cost_figure_of(double *values, size_t nr, double reach);
void cost_pin(int cpu);
void cost_sleep_ms(unsigned int ms);

#endif
