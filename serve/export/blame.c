/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metrics about the culprits of waits: one row per pair of waiting cgroup (victim) and running
 * cgroup (culprit).
 */
#include "serve/export/cgroups.h"

#include <stdio.h>

static struct blame_series *blame_of(struct series_row *row)
{
	return (struct blame_series *)((char *)row - offsetof(struct blame_series, row));
}

static uint64_t blame_key(const struct cgroup_series *victim, const struct cgroup_series *culprit)
{
	return (uint64_t)victim->id << 32 | culprit->id;
}

struct blame_series *blame_find(struct store *store, const struct cgroup_series *victim,
				const struct cgroup_series *culprit)
{
	struct series_row *row =
		series_find(&store->tables[F_RUNQ_BLAME], blame_key(victim, culprit), NULL);

	return row ? blame_of(row) : NULL;
}

/* Copies the labels of one cgroup with a prefix, such as victim_pod. */
static size_t side_names(const struct cgroup_series *cgroup, const char *side, char (*names)[64],
			 struct label *pairs)
{
	const char *name = labels_first(cgroup->row.names);
	size_t nr = 0;

	for (; *name; name = labels_next(pairs[nr++].value)) {
		snprintf(names[nr], sizeof(names[nr]), "%s_%s", side, name);
		pairs[nr] = (struct label)LABEL(names[nr], labels_next(name));
	}
	return nr;
}

static void blame_set_names(struct store *store, struct blame_series *pair)
{
	uint32_t names_seq = pair->victim->names_seq + pair->culprit->names_seq;
	struct label pairs[2 * CONFIG_NR_LABELS];
	char names[2 * CONFIG_NR_LABELS][64];
	size_t nr;

	_Static_assert(2 * CONFIG_NR_LABELS <= LABELS_MAX, "the names of a pair do not fit");
	if (pair->names_seq == names_seq)
		return;
	pair->names_seq = names_seq;
	nr = side_names(pair->victim, "victim", names, pairs);
	nr += side_names(pair->culprit, "culprit", names + nr, pairs + nr);
	series_set_names(&store->tables[F_RUNQ_BLAME], &pair->row, pairs, nr);
}

struct blame_series *blame_get(struct store *store, struct cgroup_series *victim,
			       struct cgroup_series *culprit)
{
	struct blame_series *pair = blame_find(store, victim, culprit);
	const struct label pairs[] = {LABEL("victim", cgroup_path(victim)),
				      LABEL("culprit", cgroup_path(culprit))};
	struct series_row *row;

	if (!pair) {
		row = series_add(&store->tables[F_RUNQ_BLAME], blame_key(victim, culprit), pairs,
				 2);
		if (!row)
			return NULL;
		pair = blame_of(row);
		pair->victim = victim;
		pair->culprit = culprit;
	}
	blame_set_names(store, pair);
	return pair;
}

void blame_move(struct store *store, const struct cgroup_series *cgroup,
		struct cgroup_series *other)
{
	struct series_table *table = &store->tables[F_RUNQ_BLAME];

	/*
	 * The loop runs from the end, because series_remove() moves the last row to the index of
	 * the removed row.
	 */
	for (size_t i = table->nr; i-- > 0;) {
		struct blame_series *pair = i < table->nr ? blame_of(table->rows[i]) : NULL, *to;

		if (!pair || (pair->victim != cgroup && pair->culprit != cgroup))
			continue;
		to = !other ? NULL
			    : blame_get(store, pair->victim == cgroup ? other : pair->victim,
					pair->culprit == cgroup ? other : pair->culprit);
		if (to)
			store_sample(store, &to->row, F_RUNQ_BLAME, 0)->u64 +=
				pair->row.words[0].u64;
		series_remove(table, &pair->row);
	}
}
