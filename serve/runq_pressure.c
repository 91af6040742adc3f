/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds the wall time in which a cgroup waited to its counters, by cause. */
#include "runq_pressure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runq_labels.h"

static const char *const cause_names[RUNQ_PRESSURE_NR_CAUSES] = {
	[RUNQ_PRESSURE_QUOTA] = "quota",
	[RUNQ_PRESSURE_CONTENTION] = "contention",
	[RUNQ_PRESSURE_KTHREAD] = "kernel_thread",
	[RUNQ_PRESSURE_IDLE] = "idle_exit",
};

static void add_time(struct store *store, enum family_id id, const char *labels, const char *more,
		     uint64_t ns)
{
	size_t at;

	store_add(store, id, labels, ns);
	at = series_find(&store->series[id], labels);
	if (at != SERIES_NONE && more)
		series_set_more(&store->series[id], at, more);
}

void runq_pressure_absorb(struct store *store, const struct config *config,
			  const struct runq_pressed *pressed)
{
	struct runq_party party = {.kind = RUNQ_PARTY_GROUP, .group = pressed->group};
	bool machine = !strcmp(pressed->group->path, "/");
	char *cgroup = runq_label(config, &party), *more = runq_label_more(config, "", &party),
	     *labels;

	/*
	 * Wall times of cgroups do not add up to one of all: those without a place have none in
	 * (other) either.
	 */
	if (!cgroup || (!machine && series_find(&store->seen, cgroup) == SERIES_NONE))
		goto out;
	for (int i = 0; i < RUNQ_PRESSURE_NR_CAUSES; i++) {
		if (asprintf(&labels, "%s,cause=\"%s\"", cgroup, cause_names[i]) < 0)
			goto out;
		add_time(store, F_RUNQ_WAITING, labels, more, pressed->times.waiting_ns[i]);
		add_time(store, F_RUNQ_STALLED, labels, more, pressed->times.stalled_ns[i]);
		free(labels);
	}
out:
	free(cgroup);
	free(more);
}
