/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Schedules of tasks that run one after the other in one window of `subtick runq`. Each schedule
 * has its own cgroups.
 */
#ifndef SUBTICK_TESTS_TRUTH_RUNQ_SCHEDULES_H
#define SUBTICK_TESTS_TRUTH_RUNQ_SCHEDULES_H

#include <stdint.h>

#include <jansson.h>

struct runq_schedule {
	/*
	 * Starts the tasks of the schedule, which sleep until @begin_ns. The tasks finish by
	 * *ret_end_ns and then sleep until the window ends. The cgroups of the tasks have only the
	 * waits of this schedule.
	 */
	void *(*start)(uint64_t begin_ns, uint64_t *ret_end_ns);
	/*
	 * enter() runs in the test's process just before @begin_ns, and leave() runs after the end
	 * of the schedule. enter and leave may be NULL.
	 */
	void (*enter)(void *state);
	void (*leave)(void *state);
	/*
	 * Checks what subtick reports for the schedule, and stops the tasks of the schedule.
	 * @source is "sched_info" or "wakeup".
	 */
	void (*judge)(void *state, const char *source, json_t *root);
};

/* Returns the boundaries for option --le in schedule runq_waits. */
const char *runq_waits_le(void);

/* Compares two simultaneous runs: a run with --sample @ratio, and a run that counts all waits. */
void runq_sample_judge(void *state, double ratio, json_t *full, json_t *sampled);
/* Compares the slow path of `subtick runq` with its fast path, on the same waits. */
void runq_sample_judge_paths(void *state, json_t *quick, json_t *other);
/*
 * Compares the metrics page @text of an exporter with a run that counts all waits. The exporter
 * samples each wait with probability @ratio. @who names the exporter in the test results.
 */
void runq_sample_judge_scrape(void *state, double ratio, json_t *full, json_t *sampled,
			      const char *who, const char *text);

extern const struct runq_schedule runq_waits, runq_preempt, runq_share, runq_quota, runq_kthread,
	runq_sample;

#endif
