/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs subtick while tasks of a test run. The window of subtick contains all actions of these
 * tasks.
 */
#ifndef SUBTICK_TESTS_TRUTH_MEASURED_H
#define SUBTICK_TESTS_TRUTH_MEASURED_H

#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

/*
 * Delay between the start of subtick and the first action of the measured tasks. Attaching the BPF
 * programs takes 0.7 s of guest time, with --blame 1.4 s.
 */
#define MEASURED_LEAD_NS 1500000000ULL

struct measured {
	pid_t pid;
	int fd;
};

/* Starts `subtick @args` on CPU 0. */
void measured_start(struct measured *m, const char *const args[]);
/*
 * Waits for the exit of subtick and returns the lines of its output. Fails the test program if
 * subtick prints nothing.
 */
json_t *measured_lines(struct measured *m);
/*
 * Reads one line of output. Fails the test program unless subtick's window contains the interval
 * [from_ns, to_ns] of CLOCK_MONOTONIC.
 */
json_t *measured_end(struct measured *m, uint64_t from_ns, uint64_t to_ns);
/*
 * Returns the end of the window of an output line on CLOCK_MONOTONIC, and the length of the window.
 */
uint64_t measured_window(json_t *line, uint64_t *ret_length_ns);

/* Returns the row of a cgroup in the output of `subtick runq`, or NULL. */
json_t *measured_group(json_t *root, const char *cgroup);
/* Returns value @key of the cgroup's row, or NAN if the row or the value is missing. */
double measured_figure(json_t *root, const char *cgroup, const char *key);
/* Returns the sum of the wait times of a cgroup over all causes. */
double measured_causes(json_t *group);
/*
 * Returns the wait time in ns that is blamed on a culprit, or on all culprits if @culprit is NULL.
 */
double measured_blame(json_t *root, const char *victim, const char *culprit);
/* Prints all rows of the blame table, to explain a failed test. */
void measured_note_blame(json_t *root);

#endif
