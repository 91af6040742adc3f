/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the waits of tasks from switch and wake-up events. */
#include "seen.h"

const char *const seen_events[] = {"sched/sched_switch", "sched/sched_wakeup",
				   "sched/sched_wakeup_new", NULL};

static struct seen *seen_of(struct seen *seen, size_t nr, int64_t pid)
{
	for (size_t i = 0; i < nr; i++)
		if (seen[i].pid == pid)
			return &seen[i];
	return NULL;
}

static void switch_out(struct seen *prev, int64_t state, uint64_t now_ns)
{
	prev->running = false;
	/* In prev_state, bits 0 to 7 are sleep states and bit 8 means preempted. */
	if (!(state & 0xff))
		prev->from_ns = now_ns;
}

static void switch_in(struct seen *next, uint64_t now_ns)
{
	uint64_t wait_ns = now_ns - next->from_ns;

	next->running = true;
	if (!next->from_ns)
		return;
	if (!next->count++ || wait_ns < next->min_ns)
		next->min_ns = wait_ns;
	next->sum_ns += wait_ns;
	next->max_ns = wait_ns > next->max_ns ? wait_ns : next->max_ns;
	next->from_ns = 0;
}

void seen_fill(struct seen *seen, size_t nr, const struct witness *w, uint64_t from_ns)
{
	for (size_t i = 0; i < w->nr_hits; i++) {
		const struct witness_hit *hit = &w->hits[i];
		struct seen *task;

		if (hit->time_ns < from_ns)
			continue;
		if (hit->event) {
			task = seen_of(seen, nr, witness_field(w, hit, "pid"));
			/* A task that is woken before leaving the core does not wait. */
			if (task && !task->running && !task->from_ns)
				task->from_ns = hit->time_ns;
			continue;
		}
		task = seen_of(seen, nr, witness_field(w, hit, "prev_pid"));
		if (task)
			switch_out(task, witness_field(w, hit, "prev_state"), hit->time_ns);
		task = seen_of(seen, nr, witness_field(w, hit, "next_pid"));
		if (task)
			switch_in(task, hit->time_ns);
	}
}
