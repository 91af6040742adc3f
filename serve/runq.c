/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run-queue windows as histograms and counters, in a limited number of series. */
#include "runq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors.h"
#include "keeper.h"
#include "measure/runq/runq.h"
#include "present/present.h"
#include "needs.h"
#include "runq_labels.h"
#include "runq_limit.h"
#include "runq_pressure.h"
#include "stats/native.h"
#include "view/prom.h"

static const struct runq_party other = {.kind = RUNQ_PARTY_OTHER};
/* No cgroup is called like this: paths begin with a slash. */
static const struct runq_group excluded_group = {.path = "(excluded)"};
static const struct runq_party excluded = {.kind = RUNQ_PARTY_GROUP, .group = &excluded_group};

/* Whether the rules leave the party out; the sums of what they leave out stay. */
static bool is_excluded(const struct config *config, const struct runq_party *party)
{
	const struct runq_group *group = party->group;
	const struct runq_group_names *names = group ? group->names : NULL;
	struct runq_rules_names known;

	if (!config->rules.nr || party->kind != RUNQ_PARTY_GROUP)
		return false;
	known = (struct runq_rules_names){.name = {
		[RUNQ_RULE_CGROUP] = group->path,
		[RUNQ_RULE_NAMESPACE] = config->per == CONFIG_PER_NAMESPACE ? group->path
				     : names				 ? names->namespace
									 : NULL,
		[RUNQ_RULE_POD] = names ? names->pod : NULL,
		[RUNQ_RULE_CONTAINER] = names ? names->container : NULL,
		[RUNQ_RULE_QOS] = config->per == CONFIG_PER_QOS ? group->path : group->qos,
	}};
	return !runq_rules_pass(&config->rules, &known);
}

static bool admit(struct store *store, const struct config *config, const struct runq_window *w,
		  const struct runq_group_window *group, const char *labels)
{
	struct runq_candidate candidate = {
		.labels = labels,
		.ended = group->ended,
		.pod = group->party.group->pod_uid,
		.wait_ns = group->sum_ns,
	};

	return runq_limit_admit(store, config, &candidate, w->time_mono_ns);
}

/* @labels is that of the cgroup, escaped already; the cause needs no escaping. */
static void add_causes(struct store *store, const struct runq_window *w,
		       const struct runq_group_window *group, const char *labels)
{
	size_t len = strlen(labels);
	char *pair = malloc(len + RUNQ_CAUSE_LABEL_SIZE);

	if (!pair)
		return;
	memcpy(pair, labels, len);
	for (int i = 0; i < RUNQ_NR_CAUSES; i++) {
		/* A cause that this kernel does not report has no series, not one of zeros. */
		if (!(w->causes_known >> i & 1))
			continue;
		strcpy(pair + len, runq_cause_labels[i]);
		store_add(store, F_RUNQ_CAUSE, pair, group->cause_ns[i]);
	}
	free(pair);
}

static void add_histogram(struct series *series, size_t at, const struct runq_window *w,
			  const struct runq_group_window *group)
{
	union word *words = series_words(series, at);

	/* Both lists come from the same settings. */
	for (unsigned int i = 0; i < w->nr_le && i < series->nr_le; i++)
		if (w->le_ns[i] == series->le_ns[i])
			words[i].u64 += group->le_count[i];
	words[series->nr_le].u64 += group->count;
	words[series->nr_le + 1].u64 += group->sum_ns;
	if (series->native.at)
		native_fold(&group->hist, w->sample_ratio, &words[series->native.at].u64);
}

/* Names are known now, or have changed: the rows of the causes are those of the group, too. */
static void name_rows(struct store *store, size_t at, const char *more)
{
	struct series *runq = &store->series[F_RUNQ], *causes = &store->series[F_RUNQ_CAUSE];
	const char *labels = runq->labels[at];
	size_t len = strlen(labels);
	char *pair;

	if (!strcmp(series_more(labels), more))
		return;
	pair = malloc(len + RUNQ_CAUSE_LABEL_SIZE);
	for (int i = 0; pair && i < RUNQ_NR_CAUSES; i++) {
		size_t row;

		memcpy(pair, labels, len);
		strcpy(pair + len, runq_cause_labels[i]);
		row = series_find(causes, pair);
		if (row != SERIES_NONE)
			series_set_more(causes, row, more);
	}
	free(pair);
	series_set_more(runq, at, more);
}

static void absorb_group(struct store *store, const struct config *config,
			 const struct runq_window *w, const struct runq_group_window *group)
{
	struct series *series = &store->series[F_RUNQ];
	const struct runq_party *party = &group->party;
	char *labels, *more;
	size_t at;

	if (is_excluded(config, party))
		party = &excluded;
	labels = runq_label(config, party);
	/* It has ended, and has no series that could. */
	if (labels && !group->count && series_find(&store->seen, labels) == SERIES_NONE) {
		free(labels);
		return;
	}
	if (labels && party->kind == RUNQ_PARTY_GROUP && party != &excluded) {
		if (!admit(store, config, w, group, labels)) {
			store_add(store, F_RUNQ_FOLDED, "kind=\"waits\"", group->count);
			free(labels);
			party = &other;
			labels = runq_label(config, party);
		}
	}
	more = runq_label_more(config, "", party);
	at = labels ? series_row(series, labels) : SERIES_NONE;
	if (at != SERIES_NONE) {
		add_histogram(series, at, w, group);
		add_causes(store, w, group, labels);
		if (more)
			name_rows(store, at, more);
	}
	free(labels);
	free(more);
}

/* A cgroup without series of its own has none as a victim or culprit either. */
static const struct runq_party *shown_party(struct store *store, const struct config *config,
					    const struct runq_party *party)
{
	char *labels;
	bool known;

	if (party->kind != RUNQ_PARTY_GROUP)
		return party;
	if (is_excluded(config, party))
		return &excluded;
	labels = runq_label(config, party);
	known = labels && series_find(&store->seen, labels) != SERIES_NONE;
	free(labels);
	return known ? party : &other;
}

static void name_pair(struct series *series, const struct config *config, const char *labels,
		      const struct runq_party *victim, const struct runq_party *culprit)
{
	char *of_victim = runq_label_more(config, "victim_", victim);
	char *of_culprit = runq_label_more(config, "culprit_", culprit);
	size_t at = series_find(series, labels);
	char *more = NULL;

	if (at != SERIES_NONE && of_victim && of_culprit &&
	    (*of_victim || *of_culprit || *series_more(series->labels[at])) &&
	    asprintf(&more, "%s%s", of_victim, of_culprit) >= 0)
		series_set_more(series, at, more);
	free(more);
	free(of_victim);
	free(of_culprit);
}

static void absorb_blame(struct store *store, const struct config *config,
			 const struct runq_blame *blame)
{
	struct series *series = &store->series[F_RUNQ_BLAME];
	const struct runq_party *victim = shown_party(store, config, &blame->victim);
	const struct runq_party *culprit = shown_party(store, config, &blame->culprit);
	char *labels = prom_labels("victim", runq_party_path(victim), "culprit",
				   runq_party_path(culprit), NULL);

	if (labels && series_find(series, labels) == SERIES_NONE &&
	    series->nr >= config->blame_limit) {
		free(labels);
		victim = culprit = &other;
		labels = prom_labels("victim", runq_party_path(&other), "culprit",
				     runq_party_path(&other), NULL);
		store_add(store, F_RUNQ_FOLDED, "kind=\"blame\"", blame->count);
	}
	store_add(store, F_RUNQ_BLAME, labels, blame->wait_ns);
	if (labels)
		name_pair(series, config, labels, victim, culprit);
	free(labels);
}

static void absorb_idle(struct store *store, const struct config *config,
			const struct runq_idle_state *s)
{
	static const enum family_id ids[] = {F_RUNQ_IDLE, F_RUNQ_IDLE_WAITS};
	const struct runq_party *party = shown_party(store, config, &s->party);
	char *labels = prom_labels(runq_label_name(config), runq_party_path(party), "state",
				   s->name, NULL);
	char *more = runq_label_more(config, "", party);

	store_add(store, F_RUNQ_IDLE, labels, s->wait_ns);
	store_add(store, F_RUNQ_IDLE_WAITS, labels, s->count);
	for (int i = 0; labels && more && i < 2; i++) {
		size_t at = series_find(&store->series[ids[i]], labels);

		if (at != SERIES_NONE)
			series_set_more(&store->series[ids[i]], at, more);
	}
	free(labels);
	free(more);
}

/* What waits in this window is not silent: known before places are taken from any cgroup. */
static void note_known(struct store *store, const struct config *config,
		       const struct runq_window *w)
{
	for (size_t i = 0; i < w->nr_groups; i++) {
		const struct runq_group_window *group = &w->groups[i];
		char *labels;

		if (group->party.kind != RUNQ_PARTY_GROUP || is_excluded(config, &group->party))
			continue;
		labels = runq_label(config, &group->party);
		if (labels && series_find(&store->seen, labels) != SERIES_NONE)
			admit(store, config, w, group, labels);
		free(labels);
	}
}

static bool is_outside(const struct runq_group_window *group)
{
	return !group->party.group || !group->party.group->pod_uid;
}

void runq_absorb(struct store *store, const struct config *config, const struct runq_window *w)
{
	runq_limit_expire(store, w->time_mono_ns);
	if (store->seen.nr >= config->cgroup_limit)
		note_known(store, config, w);
	/* Pods first, so that nobody outside gets a place that a pod then takes. */
	for (int outside = 0; outside < 2; outside++)
		for (size_t i = 0; i < w->nr_groups; i++)
			if (is_outside(&w->groups[i]) == (bool)outside)
				absorb_group(store, config, w, &w->groups[i]);
	for (size_t i = 0; i < w->nr_blame; i++)
		absorb_blame(store, config, &w->blame[i]);
	for (size_t i = 0; i < w->nr_idle_states; i++)
		absorb_idle(store, config, &w->idle_states[i]);
	for (size_t i = 0; i < w->nr_pressed; i++)
		runq_pressure_absorb(store, config, &w->pressed[i]);
	store_set(store, F_RUNQ_GROUPS, "", store->seen.nr);
#define LOSS(member, key, from) store_loss(store, "runq", #key, w->losses.member);
#define IDLE_LOSS(member, key)	   store_loss(store, "runq", #key, w->member);
#define PRESSURE_LOSS(member, key) store_loss(store, "runq", #key, w->pressure_losses.member);
	RUNQ_LOSSES(LOSS)
	if (w->has_idle_states) {
		RUNQ_IDLE_LOSSES(IDLE_LOSS)
	}
	if (w->has_pressure) {
		RUNQ_PRESSURE_LOSSES(PRESSURE_LOSS)
	}
}

/*
 * Maps for all cgroups are created at the start, because creating maps later needs privileges that
 * were dropped. Waits of cgroups beyond that are in (other), and counted as the loss table_full.
 */
static int runq_collector_open(const struct config *config, struct meter *load,
			       struct meter **ret_meter, struct err *err)
{
	struct runq_opts opts;
	int rc;

	config_runq(config, &opts);
	opts.reserve_most = needs_most_cgroups_here(config);
	if (!config->no_sandbox) {
		rc = keeper_start(&opts.names_channel, err);
		if (rc)
			return rc;
	}
	return runq_open(&opts, ret_meter, err);
}

static void runq_collector_absorb(struct store *store, const struct config *config,
				  const struct meter *meter)
{
	runq_absorb(store, config, runq_window(meter));
}

const struct collector_ops collector_runq = {
	.name = "runq",
	.open = runq_collector_open,
	.absorb = runq_collector_absorb,
	.present = present_runq,
};
