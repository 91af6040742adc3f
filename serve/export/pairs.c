/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metrics of pairs of cgroups: time that one cgroup waited while the other cgroup ran, and time
 * that both cgroups ran on the hyperthreads of one core.
 */
#include "serve/export/cgroups.h"

#include <stdio.h>

#include "base/array.h"

static const enum family_id families[] = {F_RUNQ_BLAME, F_CORE_PAIRS};

static struct pair_series *pair_of(struct series_row *row)
{
	return (struct pair_series *)((char *)row - offsetof(struct pair_series, row));
}

/* Names of the labels with the paths of the two cgroups. */
static const char *const *sides(enum family_id id)
{
	static const char *const blame[] = {"victim", "culprit"};
	static const char *const core[] = {"cgroup", "sibling"};

	return id == F_RUNQ_BLAME ? blame : core;
}

static uint64_t pair_key(struct cgroup_series *const cgroups[2])
{
	return (uint64_t)cgroups[0]->id << 32 | cgroups[1]->id;
}

struct pair_series *pair_find(struct store *store, enum family_id id,
			      struct cgroup_series *const cgroups[2])
{
	struct series_row *row = series_find(&store->tables[id], pair_key(cgroups), NULL);

	return row ? pair_of(row) : NULL;
}

/* Copies the labels of one cgroup with a prefix, such as victim_pod. */
static size_t side_names(const struct cgroup_series *cgroup, const char *side, char (*names)[64],
			 struct label *labels)
{
	const char *name = labels_first(cgroup->row.names);
	size_t nr = 0;

	for (; *name; name = labels_next(labels[nr++].value)) {
		snprintf(names[nr], sizeof(names[nr]), "%s_%s", side, name);
		labels[nr] = (struct label)LABEL(names[nr], labels_next(name));
	}
	return nr;
}

static void pair_set_names(struct store *store, enum family_id id, struct pair_series *pair)
{
	uint32_t names_seq = pair->cgroups[0]->names_seq + pair->cgroups[1]->names_seq;
	struct label labels[2 * CONFIG_NR_LABELS];
	char names[2 * CONFIG_NR_LABELS][64];
	size_t nr;

	_Static_assert(2 * CONFIG_NR_LABELS <= LABELS_MAX, "the names of a pair do not fit");
	if (pair->names_seq == names_seq)
		return;
	pair->names_seq = names_seq;
	nr = side_names(pair->cgroups[0], sides(id)[0], names, labels);
	nr += side_names(pair->cgroups[1], sides(id)[1], names + nr, labels + nr);
	series_set_names(&store->tables[id], &pair->row, labels, nr);
}

struct pair_series *pair_get(struct store *store, enum family_id id,
			     struct cgroup_series *const cgroups[2])
{
	struct pair_series *pair = pair_find(store, id, cgroups);
	const struct label labels[] = {LABEL(sides(id)[0], cgroup_path(cgroups[0])),
				       LABEL(sides(id)[1], cgroup_path(cgroups[1]))};
	struct series_row *row;

	if (!pair) {
		row = series_add(&store->tables[id], pair_key(cgroups), labels, 2);
		if (!row)
			return NULL;
		pair = pair_of(row);
		pair->cgroups[0] = cgroups[0];
		pair->cgroups[1] = cgroups[1];
	}
	pair_set_names(store, id, pair);
	return pair;
}

static void move_family(struct store *store, enum family_id id, const struct cgroup_series *cgroup,
			struct cgroup_series *other)
{
	struct series_table *table = &store->tables[id];

	/* Backwards, because series_remove() moves the last row to the index of the removed row. */
	for (size_t i = table->nr; i-- > 0;) {
		struct pair_series *pair = i < table->nr ? pair_of(table->rows[i]) : NULL, *to = NULL;
		struct cgroup_series *cgroups[2];

		if (!pair || (pair->cgroups[0] != cgroup && pair->cgroups[1] != cgroup))
			continue;
		for (int side = 0; side < 2; side++)
			cgroups[side] = pair->cgroups[side] == cgroup ? other : pair->cgroups[side];
		if (other)
			to = pair_get(store, id, cgroups);
		if (to)
			store_sample(store, &to->row, id, 0)->u64 += pair->row.words[0].u64;
		series_remove(table, &pair->row);
	}
}

void pairs_move(struct store *store, const struct cgroup_series *cgroup,
		struct cgroup_series *other)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		move_family(store, families[i], cgroup, other);
}
