/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gives places to cgroups, and takes them from those that ended or are silent. */
#include "runq_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "contest.h"
#include "measure/runq/opts.h"
#include "view/prom.h"

/*
 * The series of a cgroup that ended stay long enough for every scraper to see the last values. The
 * series of a cgroup without a wait for an hour are dropped too; they start at 0 if it waits again.
 */
#define LINGER_NS (5 * 60 * NSEC_PER_SEC)
#define SILENT_NS (60 * 60 * NSEC_PER_SEC)
/*
 * With more busy cgroups than places, cgroups that wait now and then would take the places from
 * each other at every window, and each change is a jump of (other): two scrapes at Prometheus'
 * default interval must lie between.
 */
#define KEEP_NS (125 * NSEC_PER_SEC)

const char *const runq_cause_labels[RUNQ_NR_CAUSES] = {
	[RUNQ_IDLE] = ",cause=\"idle_exit\"",	   [RUNQ_SAME] = ",cause=\"same_group\"",
	[RUNQ_OTHER] = ",cause=\"other_group\"",   [RUNQ_KTHREAD] = ",cause=\"kernel_thread\"",
	[RUNQ_PREEMPTED] = ",cause=\"preempted\"", [RUNQ_THROTTLED] = ",cause=\"throttled\"",
	[RUNQ_MIGRATED] = ",cause=\"migrated\"",   [RUNQ_UNKNOWN] = ",cause=\"unknown\"",
};

/* What store->seen has of a cgroup. */
static uint64_t *seen_ns(const struct store *store, size_t at)
{
	return &series_words(&store->seen, at)[STORE_SEEN_NS].u64;
}

static bool seen_ended(const struct store *store, size_t at)
{
	return series_words(&store->seen, at)[STORE_SEEN_ENDED].u64;
}

/* Adds the row to that of @to, or drops it if @to is NULL. */
static void row_move(struct series *series, const char *from, const char *to)
{
	size_t at = series_find(series, from), other;

	if (at == SERIES_NONE)
		return;
	/* The new row may move the words of the old one. */
	other = to ? series_row(series, to) : SERIES_NONE;
	if (other != SERIES_NONE && other != at)
		for (unsigned int i = 0; i < series->width; i++)
			series_words(series, other)[i].u64 += series_words(series, at)[i].u64;
	series_remove(series, at);
}

static void causes_move(struct store *store, const char *labels, const char *to)
{
	size_t len = strlen(labels) + RUNQ_CAUSE_LABEL_SIZE, to_len = to ? strlen(to) : 0;
	char *from_pair = malloc(len), *to_pair = malloc(to_len + RUNQ_CAUSE_LABEL_SIZE);

	for (int i = 0; from_pair && to_pair && i < RUNQ_NR_CAUSES; i++) {
		snprintf(from_pair, len, "%s%s", labels, runq_cause_labels[i]);
		snprintf(to_pair, to_len + RUNQ_CAUSE_LABEL_SIZE, "%s%s", to ? to : "",
			 runq_cause_labels[i]);
		row_move(&store->series[F_RUNQ_CAUSE], from_pair, to ? to_pair : NULL);
	}
	free(from_pair);
	free(to_pair);
}

/* Rows whose labels are those of a cgroup and more. */
static void parts_move(struct series *series, const char *labels, const char *to)
{
	size_t len = strlen(labels);

	/* From the end: a row that is removed is replaced by the last one, which was looked at. */
	for (size_t i = series->nr; i-- > 0;) {
		char *moved = NULL;

		if (i >= series->nr || strncmp(series->labels[i], labels, len) ||
		    series->labels[i][len] != ',')
			continue;
		if (to && asprintf(&moved, "%s%s", to, series->labels[i] + len) < 0)
			moved = NULL;
		row_move(series, series->labels[i], moved);
		free(moved);
	}
}

/*
 * @pair is victim="A",culprit="B"; @value is ="X". Allocates the pair with (other) for X, NULL if
 * the pair does not have X. A value is quoted and escaped, so that it has no bare quotation mark.
 */
static char *blame_other(const char *pair, const char *value)
{
	static const char victim[] = "victim", culprit[] = ",culprit";
	const char *a = pair + strlen(victim), *b = strstr(a, "\",culprit=\"");
	char *to = NULL;
	bool is_victim, is_culprit;

	if (!b)
		return NULL;
	b += strlen("\",culprit");
	is_victim = !strncmp(a, value, strlen(value)) && a + strlen(value) + strlen(culprit) == b;
	is_culprit = !strcmp(b, value);
	if (!is_victim && !is_culprit)
		return NULL;
	if (asprintf(&to, "victim%.*s,culprit%s",
		     is_victim ? (int)strlen("=\"" RUNQ_OTHER_LABEL "\"") :
				 (int)(b - strlen(culprit) - a),
		     is_victim ? "=\"" RUNQ_OTHER_LABEL "\"" : a,
		     is_culprit ? "=\"" RUNQ_OTHER_LABEL "\"" : b) < 0)
		return NULL;
	return to;
}

/* A pair is replaced by at most one other: there are never more of them than before. */
static void blame_move(struct store *store, const char *value, bool keep)
{
	struct series *blame = &store->series[F_RUNQ_BLAME];

	/* From the end: a row that is removed is replaced by the last one, which was looked at. */
	for (size_t i = blame->nr; i-- > 0;) {
		char *to = i < blame->nr ? blame_other(blame->labels[i], value) : NULL;

		if (to)
			row_move(blame, blame->labels[i], keep ? to : NULL);
		free(to);
	}
}

/* @keep: the counters go on in (other). */
static void remove_cgroup(struct store *store, size_t at, bool keep)
{
	struct series *runq = &store->series[F_RUNQ];
	const char *labels = store->seen.labels[at];
	size_t row = series_find(runq, labels);
	char other[64];

	/* The same label, whatever the series are by. */
	snprintf(other, sizeof(other), "%.*s=\"" RUNQ_OTHER_LABEL "\"", (int)strcspn(labels, "="),
		 labels);

	if (keep && row != SERIES_NONE)
		store_add(store, F_RUNQ_FOLDED, "kind=\"waits\"",
			  series_words(runq, row)[runq->nr_le].u64);
	row_move(runq, labels, keep ? other : NULL);
	causes_move(store, labels, keep ? other : NULL);
	parts_move(&store->series[F_RUNQ_IDLE], labels, keep ? other : NULL);
	parts_move(&store->series[F_RUNQ_IDLE_WAITS], labels, keep ? other : NULL);
	/* Wall time does not add up. */
	parts_move(&store->series[F_RUNQ_WAITING], labels, NULL);
	parts_move(&store->series[F_RUNQ_STALLED], labels, NULL);
	blame_move(store, strchr(labels, '='), keep);
	series_remove(&store->seen, at);
	series_bury(&store->seen);
}

void runq_limit_expire(struct store *store, uint64_t now_ns)
{
	for (size_t i = store->seen.nr; i-- > 0;)
		if (now_ns - *seen_ns(store, i) >= (seen_ended(store, i) ? LINGER_NS : SILENT_NS))
			remove_cgroup(store, i, false);
}

static bool seen_pod(const struct store *store, size_t at)
{
	return series_words(&store->seen, at)[STORE_SEEN_POD].u64;
}

static uint64_t active_ns(const struct store *store, size_t at, uint64_t now_ns)
{
	return contest_decay(series_words(&store->seen, at)[STORE_SEEN_ACTIVE_NS].u64,
			     now_ns - *seen_ns(store, at));
}

/* Whether @a is to go before @b. */
static bool goes_before(const struct store *store, size_t a, size_t b)
{
	if (seen_ended(store, a) != seen_ended(store, b))
		return seen_ended(store, a);
	if (seen_pod(store, a) != seen_pod(store, b))
		return seen_pod(store, b);
	return *seen_ns(store, a) < *seen_ns(store, b);
}

/*
 * Takes the place of one cgroup; false if all are alive and have waited lately. @for_pod: then those
 * outside pods have to go nevertheless. They do not come back in the place of a pod, so that no two
 * take the place from each other.
 */
static bool evict(struct store *store, uint64_t now_ns, bool for_pod)
{
	bool ended, weaker;
	size_t first = 0;

	for (size_t i = 1; i < store->seen.nr; i++)
		if (goes_before(store, i, first))
			first = i;
	if (!store->seen.nr)
		return false;
	ended = seen_ended(store, first);
	weaker = for_pod && !seen_pod(store, first);
	if (!ended && !weaker && now_ns - *seen_ns(store, first) < KEEP_NS)
		return false;
	remove_cgroup(store, first, true);
	store_add(store, F_RUNQ_EVICTED,
		  ended	   ? "reason=\"ended\""
		  : weaker ? "reason=\"priority\""
			   : "reason=\"silent\"",
		  1);
	return true;
}

/* The least active cgroup that has had its place for long enough; none outside pods takes a pod's. */
static size_t least_active(const struct store *store, bool for_pod, uint64_t now_ns,
			   uint64_t *ret_active_ns)
{
	size_t least = SERIES_NONE;

	*ret_active_ns = UINT64_MAX;
	for (size_t i = 0; i < store->seen.nr; i++) {
		uint64_t active;

		if (now_ns - series_words(&store->seen, i)[STORE_SEEN_SINCE_NS].u64 < KEEP_NS ||
		    (seen_pod(store, i) && !for_pod))
			continue;
		active = active_ns(store, i, now_ns);
		if (active >= *ret_active_ns)
			continue;
		least = i;
		*ret_active_ns = active;
	}
	return least;
}

/*
 * A place for a cgroup that is that active. It must be more than twice as active as the one that
 * goes: with less, two that are alike would take turns.
 */
static bool make_room(struct store *store, bool for_pod, uint64_t active, uint64_t now_ns)
{
	struct contest *contest = &store->contest;
	uint64_t *least_ns = &contest->least_ns[for_pod];
	size_t least;

	if (contest->full_ns[for_pod] == now_ns && active / 2 <= *least_ns)
		return false;
	if (!evict(store, now_ns, for_pod)) {
		least = least_active(store, for_pod, now_ns, least_ns);
		if (active / 2 <= *least_ns) {
			contest->full_ns[for_pod] = now_ns;
			return false;
		}
		remove_cgroup(store, least, true);
		store_add(store, F_RUNQ_EVICTED, "reason=\"activity\"", 1);
	}
	contest->full_ns[0] = contest->full_ns[1] = 0;
	return true;
}

/* Adds a cgroup that had no place; false if there is none. */
static bool enter(struct store *store, const struct config *config,
		  const struct runq_candidate *candidate, uint64_t now_ns)
{
	uint64_t active = candidate->wait_ns;
	union word *seen;
	size_t at;

	if (store->seen.nr >= config->cgroup_limit) {
		if (candidate->ended)
			return false;
		active = contest_add(&store->contest, candidate->labels, active, now_ns);
		/* The limit may have been lowered: then several have to go. */
		while (store->seen.nr >= config->cgroup_limit)
			if (!make_room(store, candidate->pod, active, now_ns))
				return false;
		contest_leave(&store->contest, candidate->labels);
	}
	at = series_row(&store->seen, candidate->labels);
	if (at == SERIES_NONE)
		return false;
	seen = series_words(&store->seen, at);
	seen[STORE_SEEN_NS].u64 = seen[STORE_SEEN_SINCE_NS].u64 = now_ns;
	seen[STORE_SEEN_ACTIVE_NS].u64 = active;
	return true;
}

bool runq_limit_admit(struct store *store, const struct config *config,
		      const struct runq_candidate *candidate, uint64_t now_ns)
{
	size_t at = series_find(&store->seen, candidate->labels);
	union word *seen;

	if (at == SERIES_NONE) {
		if (!enter(store, config, candidate, now_ns))
			return false;
		at = series_find(&store->seen, candidate->labels);
	}
	seen = series_words(&store->seen, at);
	/* Once per window, however often it is asked. */
	if (seen[STORE_SEEN_NS].u64 != now_ns)
		seen[STORE_SEEN_ACTIVE_NS].u64 = active_ns(store, at, now_ns) + candidate->wait_ns;
	seen[STORE_SEEN_NS].u64 = now_ns;
	seen[STORE_SEEN_ENDED].u64 = candidate->ended;
	seen[STORE_SEEN_POD].u64 = candidate->pod;
	return true;
}
