/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds run-queue windows to the counters. */
#include <stdio.h>
#include <string.h>

#include "serve/export/cgroups.h"
#include "serve/export/collector.h"
#include "serve/log.h"
#include "measure/runq/runq.h"
#include "serve/export/resource_limits.h"
#include "serve/sandbox/sandbox.h"
#include "stats/hist.h"

/* Returns the row of a non-cgroup party such as (idle). No cgroup path begins with "(". */
static struct cgroup_series *special(struct store *store, const struct runq_party *party)
{
	return cgroups_get(store, runq_party_path(party), party->kind);
}

/*
 * Returns the row of @party, or the row (other) for a cgroup without series. Returns NULL if out of
 * memory.
 */
static struct cgroup_series *party_row(struct store *store, const struct runq_party *party)
{
	const struct runq_group *group = party->group;
	struct cgroup_series *cgroup = group ? cgroups_find(store, group) : special(store, party);

	if (group && !cgroup)
		return cgroups_other(store);
	if (group)
		cgroups_set_names(store, cgroup, group);
	return cgroup;
}

static void add_histogram(const struct series *series, struct series_row *row,
			  const struct runq_window *w, const struct runq_group_window *group)
{
	union word *words = series_sample(series, row, 0);

	/* The histogram boundaries w->le_ns and series->le_ns come from the same settings. */
	for (unsigned int i = 0; i < w->nr_le && i < series->nr_le; i++)
		if (w->le_ns[i] == series->le_ns[i])
			words[i].u64 += group->le_count[i];
	words[series->nr_le].u64 += group->count;
	words[series->nr_le + 1].u64 += group->sum_ns;
	if (series->native.at)
		native_fold(&group->hist, w->sample_ratio, &words[series->native.at].u64);
}

static void absorb_group(struct store *store, const struct runq_window *w,
			 const struct runq_group_window *group)
{
	const struct runq_group *own = group->party.group;
	struct cgroup_series *cgroup = NULL;

	/* Skip a group that has neither waits nor series. */
	if (!group->count && !(own && cgroups_find(store, own)))
		return;
	if (own)
		cgroup = cgroups_admit(store, group, w->time_mono_ns);
	if (cgroup) {
		cgroups_set_names(store, cgroup, own);
	} else if (own) {
		cgroup = cgroups_other(store);
		store_single(store, F_RUNQ_FOLDED, STORE_FOLDED_WAITS)->u64 += group->count;
	} else {
		cgroup = special(store, &group->party);
	}
	if (!cgroup)
		return;
	add_histogram(&store->series[F_RUNQ], &cgroup->row, w, group);
	/* A cause that the kernel cannot report has no series, not a series with the value 0. */
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		if (w->causes_known >> i & 1)
			store_sample(store, &cgroup->row, F_RUNQ_CAUSE, i)->u64 +=
				group->cause_ns[i];
	if (!w->has_avoidable || group->avoidable_ns == UINT64_MAX)
		return;
	store_sample(store, &cgroup->row, F_RUNQ_AVOIDABLE, 0)->u64 += group->avoidable_ns;
	store_sample(store, &cgroup->row, F_RUNQ_AVOIDABLE, 1)->u64 += group->avoidable_most_ns;
	store_sample(store, &cgroup->row, F_RUNQ_EXCLUDED, 0)->u64 += group->excluded_ns;
}

/*
 * Adds the wait time of a pair (victim, culprit). If the family @id has @limit pairs, the time of a
 * new pair is added to the row (other).
 */
static void absorb_pair(struct store *store, enum family_id id, uint64_t limit,
			enum store_folded folded, const struct runq_blame *blame)
{
	struct cgroup_series *cgroups[] = {party_row(store, &blame->victim),
					   party_row(store, &blame->culprit)};
	struct pair_series *pair;

	if (!cgroups[0] || !cgroups[1])
		return;
	if (store->tables[id].nr >= limit && !pair_find(store, id, cgroups)) {
		cgroups[0] = cgroups[1] = cgroups_other(store);
		store_single(store, F_RUNQ_FOLDED, folded)->u64 += blame->count;
	}
	pair = cgroups[0] ? pair_get(store, id, cgroups) : NULL;
	if (pair)
		store_sample(store, &pair->row, id, 0)->u64 += blame->wait_ns;
}

/* Index of the idle state @name, added if new; STORE_IDLE_STATES if the list is full. */
static unsigned int idle_state(struct store *store, const char *name)
{
	unsigned int i = 0;

	while (i < store->nr_idle_states && strcmp(store->idle_names[i], name))
		i++;
	if (i == store->nr_idle_states && i < STORE_IDLE_STATES) {
		snprintf(store->idle_names[i], sizeof(store->idle_names[i]), "%s", name);
		store->nr_idle_states++;
	}
	return i;
}

static void absorb_idle(struct store *store, const struct runq_idle_state *s)
{
	struct cgroup_series *cgroup = party_row(store, &s->party);
	unsigned int state = idle_state(store, s->name);

	if (!cgroup || state == STORE_IDLE_STATES)
		return;
	store_sample(store, &cgroup->row, F_RUNQ_IDLE, state)->u64 += s->wait_ns;
	store_sample(store, &cgroup->row, F_RUNQ_IDLE_WAITS, state)->u64 += s->count;
}

/* The row (other) has no pressure counters, because the wall times of several cgroups overlap. */
static void absorb_pressure(struct store *store, const struct runq_pressed *pressed)
{
	const struct runq_group *group = pressed->group;
	bool machine = !strcmp(group->path, "/");
	struct cgroup_series *cgroup = machine ? cgroups_get(store, group->path, group->key)
					       : cgroups_find(store, group);

	if (!cgroup)
		return;
	cgroups_set_names(store, cgroup, group);
	for (int i = 0; i < RUNQ_PRESSURE_NR_CAUSES; i++) {
		store_sample(store, &cgroup->row, F_RUNQ_WAITING, i)->u64 +=
			pressed->times.waiting_ns[i];
		store_sample(store, &cgroup->row, F_RUNQ_STALLED, i)->u64 +=
			pressed->times.stalled_ns[i];
	}
}

/*
 * Updates the activity of all cgroups with series before the first eviction, so that cgroups that
 * waited in @w count as active.
 */
static void update_activity(struct store *store, const struct runq_window *w)
{
	for (size_t i = 0; i < w->nr_groups; i++) {
		const struct runq_group *group = w->groups[i].party.group;

		if (group && cgroups_find(store, group))
			cgroups_admit(store, &w->groups[i], w->time_mono_ns);
	}
}

static bool is_outside(const struct runq_group_window *group)
{
	return !group->party.group || !group->party.group->pod_uid;
}

void runq_absorb(struct store *store, const struct runq_window *w)
{
	cgroups_expire(store, w->time_mono_ns);
	if (store->nr_cgroups >= store->config->cgroup_limit)
		update_activity(store, w);
	/* Add pods first, so that no pod evicts a cgroup that got its row in this window. */
	for (int outside = 0; outside < 2; outside++)
		for (size_t i = 0; i < w->nr_groups; i++)
			if (is_outside(&w->groups[i]) == (bool)outside)
				absorb_group(store, w, &w->groups[i]);
	for (size_t i = 0; i < w->nr_blame; i++)
		absorb_pair(store, F_RUNQ_BLAME, store->config->blame_limit, STORE_FOLDED_BLAME,
			    &w->blame[i]);
	for (size_t i = 0; i < w->nr_core_pairs; i++)
		absorb_pair(store, F_CORE_PAIRS, store->config->core_pairs, STORE_FOLDED_CORE_PAIRS,
			    &w->core_pairs[i]);
	for (size_t i = 0; i < w->nr_idle_states; i++)
		absorb_idle(store, &w->idle_states[i]);
	for (size_t i = 0; i < w->nr_pressed; i++)
		absorb_pressure(store, &w->pressed[i]);
	store_single(store, F_RUNQ_GROUPS, 0)->u64 = store->nr_cgroups;
#define LOSS(member, key, from) store_loss(store, "runq", #key, w->losses.member);
#define IDLE_LOSS(member, key)	   store_loss(store, "runq", #key, w->member);
#define PRESSURE_LOSS(member, key) store_loss(store, "runq", #key, w->pressure_losses.member);
	RUNQ_LOSSES(LOSS)
	if (w->has_idle_states) {
		RUNQ_IDLE_LOSSES(IDLE_LOSS)
	}
	if (w->has_avoidable) {
		RUNQ_AVOIDABLE_LOSSES(IDLE_LOSS)
	}
	if (w->has_pressure) {
		RUNQ_PRESSURE_LOSSES(PRESSURE_LOSS)
	}
}

/*
 * All BPF maps are created here, before privileges are dropped. Waits of cgroups without a slot are
 * in the row (other) and in the loss counter table_full.
 */
static int runq_collector_open(const struct config *config, struct meter *load,
			       struct meter **ret_meter, struct err *err)
{
	struct runq_opts opts;
	int rc;

	config_runq(config, &opts);
	opts.reserve_most = resources_most_cgroups_here(config);
	if (!config->no_sandbox) {
		rc = runtime_fd_helper_start(&opts.names_channel, err);
		if (rc)
			return rc;
	}
	opts.load = load;
	opts.core_pairs = load && config->core_pairs > 0;
	rc = runq_open(&opts, ret_meter, err);
	if (!rc && runq_window(*ret_meter)->separate_err)
		log_line("runq uses a separate program on sched_switch: %s",
			 runq_window(*ret_meter)->separate_err->what);
	return rc;
}

static void runq_collector_absorb(struct store *store, const struct meter *meter)
{
	const struct runq_window *w = runq_window(meter);

	store_window(store, "runq", runq_source_names[w->source], w->time_unix_ns);
	runq_absorb(store, w);
}

const struct collector_ops collector_runq = {
	.name = "runq",
	.open = runq_collector_open,
	.absorb = runq_collector_absorb,
};
