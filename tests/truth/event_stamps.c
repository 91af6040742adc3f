/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts together the timestamps that several perf events took at the same tracepoint hit. */
#include "event_stamps.h"

#include <stdlib.h>
#include <string.h>

#include "live.h"

static unsigned int stamps_per_hit(const struct witness *w, const char *name)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < w->nr; i++)
		nr += !strcmp(w->names[i], name);
	return nr;
}

static void find_next(struct event_stamp *stamps, size_t nr)
{
	uint64_t next_ns[WITNESS_CPUS];

	for (int cpu = 0; cpu < WITNESS_CPUS; cpu++)
		next_ns[cpu] = UINT64_MAX;
	for (size_t i = nr; i--;) {
		stamps[i].next_ns = next_ns[stamps[i].cpu];
		next_ns[stamps[i].cpu] = stamps[i].first_ns;
	}
}

size_t event_stamps(const struct witness *w, uint64_t own_ns, struct event_stamp **ret_stamps)
{
	struct event_stamp *stamps = calloc(w->nr_hits + 1, sizeof(*stamps));
	size_t nr = 0;
	/* Per CPU: the entry that is being filled, and how many of its stamps are still to come. */
	struct {
		size_t at;
		unsigned int left;
	} open[WITNESS_CPUS] = {0};

	if (!stamps)
		abort();
	for (size_t i = 0; i < w->nr_hits; i++) {
		const struct witness_hit *hit = &w->hits[i];
		const char *name = w->names[hit->event];
		unsigned int all = stamps_per_hit(w, name);
		struct event_stamp *t;

		if (!open[hit->cpu].left) {
			open[hit->cpu].at = nr++;
			open[hit->cpu].left = all;
			stamps[open[hit->cpu].at] = (struct event_stamp){.name = name,
									 .cpu = hit->cpu,
									 .hit = hit,
									 .first_ns = hit->time_ns};
		}
		t = &stamps[open[hit->cpu].at];
		if (strcmp(t->name, name))
			live_fail_all("%s in the middle of %s", name, t->name);
		open[hit->cpu].left--;
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
