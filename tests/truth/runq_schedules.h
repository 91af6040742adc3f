/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schedules that run one after the other in one window of `subtick runq`, each in its cgroups. */
#ifndef SUBTICK_TESTS_TRUTH_RUNQ_SCHEDULES_H
#define SUBTICK_TESTS_TRUTH_RUNQ_SCHEDULES_H

#include <stdint.h>

#include <jansson.h>

struct runq_schedule {
	/*
	 * Puts its tasks to sleep until @begin_ns. They are through by *ret_end_ns, and sleep until
	 * the window is over: what their groups waited is this schedule and nothing else.
	 */
	void *(*start)(uint64_t begin_ns, uint64_t *ret_end_ns);
	/* In the test's own process, just before @begin_ns and after the end; may be NULL. */
	void (*enter)(void *state);
	void (*leave)(void *state);
	/* @source: sched_info or wakeup. Stops the tasks. */
	void (*judge)(void *state, const char *source, json_t *root);
};

/* The boundaries that runq_waits wants for --le. */
const char *runq_waits_le(void);

/* What a run with --sample @ratio says, against one in full over the same time. */
void runq_sample_judge(void *state, double ratio, json_t *full, json_t *sampled);
/* What the other path says of the same waits as the quick one. */
void runq_sample_judge_paths(void *state, json_t *quick, json_t *other);
/* Likewise an exporter with the same ratio, by its page @text; @who for the results. */
void runq_sample_judge_scrape(void *state, double ratio, json_t *full, json_t *sampled,
			      const char *who, const char *text);

extern const struct runq_schedule runq_waits, runq_preempt, runq_share, runq_quota, runq_kthread,
	runq_sample;

#endif
