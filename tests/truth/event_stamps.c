/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups the timestamps that several perf events took at the same tracepoint hit. */
#include "event_stamps.h"

#include <stdlib.h>
#include <string.h>

#include "live.h"

#define TIMES	    4 /* number of perf events on one tracepoint */
#define MOST_NESTED 3 /* maximum nesting: a task, an interrupt and a pseudo-NMI */

const char *const *event_stamps_names(const char *const *stamped, const char *const *once)
{
	static const char *names[WITNESS_EVENTS + 1];
	size_t nr = 0;

	for (; *stamped; stamped++)
		for (int k = 0; k < TIMES && witness_has(*stamped); k++)
			names[nr++] = *stamped;
	while (*once)
		names[nr++] = *once++;
	names[nr] = NULL;
	return names;
}

static unsigned int stamps_per_hit(const struct witness *w, const char *name)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < w->nr; i++)
		nr += !strcmp(w->names[i], name);
	return nr;
}

/* Finds, for each stamp, the time of the next event on the same CPU. */
static void find_next(struct event_stamp *stamps, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t next = i + 1;

		while (next < nr && (stamps[next].cpu != stamps[i].cpu ||
				     stamps[next].first_ns < stamps[i].low_ns))
			next++;
		stamps[i].next_ns = next < nr ? stamps[next].first_ns : UINT64_MAX;
	}
}

size_t event_stamps(const struct witness *w, uint64_t own_ns, struct event_stamp **ret_stamps)
{
	struct event_stamp *stamps = calloc(w->nr_hits + 1, sizeof(*stamps));
	size_t nr = 0;
	/*
	 * For each CPU, a stack of the hits that still lack perf stamps (left[]). An interrupt
	 * between two stamps of a hit may hit tracepoints, too.
	 */
	struct {
		unsigned int depth;
		size_t at[MOST_NESTED];
		unsigned int left[MOST_NESTED];
	} open[WITNESS_CPUS] = {0};

	if (!stamps)
		abort();
	for (size_t i = 0; i < w->nr_hits; i++) {
		const struct witness_hit *hit = &w->hits[i];
		const char *name = w->names[hit->event];
		unsigned int all = stamps_per_hit(w, name);
		unsigned int top = open[hit->cpu].depth;
		struct event_stamp *t;

		if (!top || strcmp(stamps[open[hit->cpu].at[top - 1]].name, name)) {
			if (top == MOST_NESTED)
				live_fail_all("%s in the middle of %s", name,
					      stamps[open[hit->cpu].at[top - 1]].name);
			open[hit->cpu].at[top] = nr++;
			open[hit->cpu].left[top] = all;
			open[hit->cpu].depth = ++top;
			stamps[nr - 1] = (struct event_stamp){
				.name = name, .cpu = hit->cpu, .hit = hit, .first_ns = hit->time_ns};
		}
		t = &stamps[open[hit->cpu].at[top - 1]];
		if (!--open[hit->cpu].left[top - 1])
			open[hit->cpu].depth--;
		t->low_ns = t->high_ns = hit->time_ns;
		if (all > 1)
			t->high_ns += (hit->time_ns - t->first_ns) / (all - 1) + own_ns;
	}
	find_next(stamps, nr);
	*ret_stamps = stamps;
	return nr;
}

bool event_stamp_idle(const struct witness *w, const struct event_stamp *stamp, bool exit)
{
	return !strcmp(stamp->name, "power/cpu_idle") &&
	       ((uint32_t)witness_field(w, stamp->hit, "state") == UINT32_MAX) == exit;
}
