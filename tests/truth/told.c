/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts together what several witnesses said of the same event. */
#include "told.h"

#include <stdlib.h>
#include <string.h>

#include "live.h"

static unsigned int times(const struct witness *w, const char *name)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < w->nr; i++)
		nr += !strcmp(w->names[i], name);
	return nr;
}

static void find_next(struct told *told, size_t nr)
{
	uint64_t next_ns[WITNESS_CPUS];

	for (int cpu = 0; cpu < WITNESS_CPUS; cpu++)
		next_ns[cpu] = UINT64_MAX;
	for (size_t i = nr; i--;) {
		told[i].next_ns = next_ns[told[i].cpu];
		next_ns[told[i].cpu] = told[i].first_ns;
	}
}

size_t told_list(const struct witness *w, uint64_t own_ns, struct told **ret_told)
{
	struct told *told = calloc(w->nr_hits + 1, sizeof(*told));
	size_t nr = 0;
	/* Per CPU: what is being told, how often it was, and its first stamp. */
	struct {
		size_t at;
		unsigned int left;
	} open[WITNESS_CPUS] = {0};

	if (!told)
		abort();
	for (size_t i = 0; i < w->nr_hits; i++) {
		const struct witness_hit *hit = &w->hits[i];
		const char *name = w->names[hit->event];
		unsigned int all = times(w, name);
		struct told *t;

		if (!open[hit->cpu].left) {
			open[hit->cpu].at = nr++;
			open[hit->cpu].left = all;
			told[open[hit->cpu].at] = (struct told){.name = name,
								.cpu = hit->cpu,
								.hit = hit,
								.first_ns = hit->time_ns};
		}
		t = &told[open[hit->cpu].at];
		if (strcmp(t->name, name))
			live_fail_all("%s in the middle of %s", name, t->name);
		open[hit->cpu].left--;
		t->low_ns = t->high_ns = hit->time_ns;
		if (all > 1)
			t->high_ns += (hit->time_ns - t->first_ns) / (all - 1) + own_ns;
	}
	find_next(told, nr);
	*ret_told = told;
	return nr;
}

bool told_idle(const struct witness *w, const struct told *told, bool exit)
{
	return !strcmp(told->name, "power/cpu_idle") &&
	       ((uint32_t)witness_field(w, told->hit, "state") == UINT32_MAX) == exit;
}
