/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs subtick while a load runs. The window of subtick contains the whole load. */
#ifndef SUBTICK_TESTS_TRUTH_MEASURED_H
#define SUBTICK_TESTS_TRUTH_MEASURED_H

#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

/*
 * Delay between the start of subtick and the start of the load. Attaching takes 0.7 s of guest
 * time, with --blame 1.4 s.
 */
#define MEASURED_LEAD_NS 1500000000ULL

struct measured {
	pid_t pid;
	int fd;
};

/* Starts `subtick @args` on CPU 0. */
void measured_start(struct measured *m, const char *const args[]);
/*
 * Waits for the exit and returns the lines of output. Fails the program if subtick prints nothing.
 */
json_t *measured_lines(struct measured *m);
/*
 * Reads one line. Fails the program unless subtick's window contains [from_ns, to_ns] of
 * CLOCK_MONOTONIC.
 */
json_t *measured_end(struct measured *m, uint64_t from_ns, uint64_t to_ns);
/* End of the window of an output line on CLOCK_MONOTONIC, and length of the window. */
uint64_t measured_window(json_t *line, uint64_t *ret_length_ns);

/* Row of runq, or NULL. */
json_t *measured_group(json_t *root, const char *cgroup);
/* Figure of a row, or NAN if the row or the figure is missing. */
double measured_figure(json_t *root, const char *cgroup, const char *key);
/* Sum of all causes of a group. */
double measured_causes(json_t *group);
/* Wait time in ns blamed on a culprit, or on all culprits if the culprit is NULL. */
double measured_blame(json_t *root, const char *victim, const char *culprit);
/* Prints all rows of blame, to explain a failed test. */
void measured_note_blame(json_t *root);

#endif
