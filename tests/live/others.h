/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What other people's tasks take of a core meanwhile, by the scheduler's own books. */
#ifndef SUBTICK_TESTS_LIVE_OTHERS_H
#define SUBTICK_TESTS_LIVE_OTHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct others_task {
	int tid;
	int cpu;
	bool kernel;
	uint64_t run_ns;
};

struct others {
	struct others_task *tasks;
	size_t nr;
	uint64_t at_ns;
};

/* The books now; false where /proc has none (CONFIG_SCHED_INFO). */
bool others_read(struct others *others);
void others_free(struct others *others);
/*
 * The share of @cpu between the two readings that went to tasks of other programs: neither this
 * one's, nor its children's, nor the kernel's. A witness for noise that owes nothing to subtick:
 * tasks that came and went in between are missing, so the share may be more, hardly less.
 */
double others_share(const struct others *first, const struct others *last, int cpu);
/* So for the kernel's threads, which under PREEMPT_RT do what is done in interrupts elsewhere. */
double others_kernel_share(const struct others *first, const struct others *last, int cpu);

#endif
