/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task that reads the clock repeatedly, so that gaps between the readings show preemptions. */
#ifndef SUBTICK_TESTS_TRUTH_RUNS_H
#define SUBTICK_TESTS_TRUTH_RUNS_H

#include <stdint.h>

#define RUNS_MAX 256

/* An interval of clock readings during which the task was not preempted. */
struct run {
	uint64_t from_ns, to_ns;
};

struct runs {
	int nr;
	/*
	 * Number of preemptions: at least one between two successive runs, and more if the task
	 * lost the core again before its next clock reading.
	 */
	int losses;
	int early;  /* preemptions of the task before its first clock reading */
	struct run run[RUNS_MAX];
};

/*
 * Sleeps until @begin_ns, then stays busy until @end_ns and reads the clock every microsecond. If a
 * clock reading is late, the task's switch count distinguishes preemptions, which end a struct run,
 * from interrupts, which do not.
 */
void runs_burn(struct runs *runs, uint64_t begin_ns, uint64_t end_ns);
/* Returns the time of @run, or of all @runs, that lies in the interval [from_ns, to_ns]. */
uint64_t run_inside(const struct run *run, uint64_t from_ns, uint64_t to_ns);
uint64_t runs_inside(const struct runs *runs, uint64_t from_ns, uint64_t to_ns);

#endif
