/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick beside a load: started before it, its window over it, and figures out of its JSON. */
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

/* Starts `subtick @args`, on CPU 0. */
void measured_start(struct measured *m, const char *const args[]);
/* Waits for its end; an array of the lines it wrote. Fails the program without output. */
json_t *measured_lines(struct measured *m);
/*
 * Reads one line. Fails the program unless its window contains [from_ns, to_ns] of CLOCK_MONOTONIC.
 */
json_t *measured_end(struct measured *m, uint64_t from_ns, uint64_t to_ns);
/* When the window of a line ended, on CLOCK_MONOTONIC, and how long it was. */
uint64_t measured_window(json_t *line, uint64_t *ret_length_ns);

/* Rows of runq: NULL without one. */
json_t *measured_group(json_t *root, const char *cgroup);
/* A figure of it as by live_number(); NAN without the row. */
double measured_figure(json_t *root, const char *cgroup, const char *key);
/* The sum of all causes of a group. */
double measured_causes(json_t *group);
/* ns blamed on a culprit, on all with NULL. */
double measured_blame(json_t *root, const char *victim, const char *culprit);
/* Prints who waited behind whom: for a test that failed. */
void measured_note_blame(json_t *root);

#endif
