/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the sum that a cgroup belongs to, and adds up what the cgroups of each have waited. */
#include "measure/runq/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "measure/runq/names.h"

struct runq_sum_entry {
	char *label; /* what all of its groups have in common */
	struct runq_group *group;
	bool alive; /* one of its groups is; known only in windows in which another has ended */
};

/* What tells a sum from others: the first @len bytes of @text. */
struct label {
	const char *text;
	size_t len;
	/* The path of the sum, likewise: that of the cgroup that has all of its groups below it. */
	const char *path;
	size_t path_len;
};

static struct label label_word(const char *word)
{
	return (struct label){word, strlen(word), word, strlen(word)};
}

/* Up to the @depth-th name. A path without its beginning has no known depth and stays whole. */
static size_t prefix_len(const struct runq_group *group, unsigned int depth)
{
	const char *at = group->path;

	if (group->cut)
		return strlen(at);
	while (*at && depth--) {
		at += strspn(at, "/");
		at += strcspn(at, "/");
	}
	return at == group->path ? strlen(at) : (size_t)(at - group->path);
}

/* Rows do not overlap: a cgroup counts in the nearest of those asked for. */
static struct label label_asked(const struct runq_sums *sums, const struct runq_group *group)
{
	const struct runq_group *best = runq_filter_nearest(sums->filter, group->path);

	return label_word(best ? best->path : group->path);
}

static struct label label_of(const struct runq_sums *sums, const struct runq_group *group)
{
	size_t len;

	switch (sums->what) {
	case RUNQ_SUM_DEPTH:
		len = prefix_len(group, sums->depth);
		return (struct label){group->path, len, group->path, len};
	case RUNQ_SUM_POD:
		/* What is in no pod stays what it is: a service can be the noisy neighbour. */
		if (!group->pod_uid)
			return label_word(group->path);
		return (struct label){group->pod_uid, strlen(group->pod_uid), group->path,
				      group->pod_len};
	case RUNQ_SUM_NAMESPACE:
		if (!group->pod_uid)
			return label_word(RUNQ_NO_POD);
		return label_word(group->names && group->names->namespace ? group->names->namespace
								   : RUNQ_NO_NAMESPACE);
	case RUNQ_SUM_QOS:
		return label_word(group->qos ? group->qos : RUNQ_NO_POD);
	default:
		return label_asked(sums, group);
	}
}

static size_t probe(const struct runq_sums *sums, const struct label *label)
{
	uint64_t hash = hash_bytes(HASH_START, label->text, label->len);
	size_t at = (hash ^ hash >> 32) & (sums->index_size - 1);

	while (sums->index[at]) {
		const char *have = sums->entries[sums->index[at] - 1].label;

		if (!strncmp(have, label->text, label->len) && !have[label->len])
			break;
		at = (at + 1) & (sums->index_size - 1);
	}
	return at;
}

static bool index_grow(struct runq_sums *sums)
{
	size_t size = sums->index_size ? sums->index_size * 2 : 64;
	uint32_t *index = calloc(size, sizeof(*index));

	if (!index)
		return false;
	free(sums->index);
	sums->index = index;
	sums->index_size = size;
	for (size_t i = 0; i < sums->nr; i++) {
		const char *text = sums->entries[i].label;

		index[probe(sums, &(struct label){text, strlen(text), NULL, 0})] = i + 1;
	}
	return true;
}

static bool entry_init(const struct runq_sums *sums, struct runq_sum_entry *entry,
		       const struct label *label)
{
	char *path = strndup(label->path, label->path_len);

	entry->alive = false;
	entry->label = strndup(label->text, label->len);
	/* No cgroup of its own has been seen yet, so that its number is unknown. */
	entry->group = path ? runq_group_new(&(struct runq_group){.key = sums->nr + 1, .sum = true},
						path)
			    : NULL;
	free(path);
	if (entry->label && entry->group) {
		runq_names_resolve(sums->pods, entry->group);
		return true;
	}
	free(entry->label);
	runq_group_put(entry->group);
	return false;
}

static struct runq_sum_entry *entry_of(struct runq_sums *sums, const struct runq_group *group)
{
	struct label label = label_of(sums, group);
	struct runq_sum_entry *entry;
	size_t at;

	if (sums->nr * 2 >= sums->index_size && !index_grow(sums))
		return NULL;
	at = probe(sums, &label);
	if (!sums->index[at]) {
		entry = grow(sums->entries, sums->nr, sizeof(*entry));
		if (!entry)
			return NULL;
		sums->entries = entry;
		if (!entry_init(sums, &entry[sums->nr], &label))
			return NULL;
		sums->index[at] = ++sums->nr;
	}
	entry = &sums->entries[sums->index[at] - 1];
	/* The cgroup that everything else is below. */
	if (!strcmp(entry->group->path, group->path))
		entry->group->cgroup_id = group->cgroup_id;
	return entry;
}

const struct runq_group *runq_sums_of(struct runq_sums *sums, const struct runq_group *group)
{
	struct runq_sum_entry *entry = entry_of(sums, group);

	return entry ? entry->group : NULL;
}

const struct runq_group *runq_sums_find(const struct runq_sums *sums, uint64_t key)
{
	return key && key <= sums->nr ? sums->entries[key - 1].group : NULL;
}

struct runq_party runq_sums_party(struct runq_sums *sums, const struct runq_party *party)
{
	const struct runq_group *sum;

	if (party->kind != RUNQ_PARTY_GROUP)
		return *party;
	sum = runq_sums_of(sums, party->group);
	return (struct runq_party){RUNQ_PARTY_GROUP, sum ? sum : party->group};
}

static void entries_clear(struct runq_sums *sums)
{
	runq_waits_clear(&sums->waits);
	while (sums->nr) {
		struct runq_sum_entry *entry = &sums->entries[--sums->nr];

		free(entry->label);
		runq_group_put(entry->group);
	}
	free(sums->entries);
	sums->entries = NULL;
	free(sums->index);
	sums->index = NULL;
	sums->index_size = 0;
}

void runq_sums_close(struct runq_sums *sums)
{
	entries_clear(sums);
}

/* What one group of a sum has waited. */
struct part {
	struct runq_group *sum;
	const struct runq_waits *waits;
};

static int by_sum(const void *a, const void *b)
{
	uint64_t left = ((const struct part *)a)->sum->key;
	uint64_t right = ((const struct part *)b)->sum->key;

	return left < right ? -1 : left > right;
}

static int add_fine(struct runq_sums *sums, const struct part *part, size_t nr, bool ended,
		    struct err *err)
{
	struct runq_totals totals, more;

	runq_unpack(part->waits->totals, &totals);
	for (size_t i = 1; i < nr; i++) {
		runq_unpack(part[i].waits->totals, &more);
		runq_totals_add(&totals, &more);
	}
	return runq_waits_add(&sums->waits, part->sum, ended, &totals, err);
}

static int add_steps(struct runq_sums *sums, const struct part *part, size_t nr, bool ended,
		     struct err *err)
{
	struct runq_step_totals steps = {0};

	steps.nr = part->waits->steps->nr;
	for (size_t i = 0; i < nr; i++)
		runq_steps_add(&steps, part[i].waits->steps);
	return runq_waits_add_steps(&sums->waits, part->sum, ended, &steps, err);
}

/* A sum has ended if all of its groups that waited have, and none is left. */
static void note_alive(struct runq_sums *sums, struct runq_group *const *groups, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct label label = label_of(sums, groups[i]);
		size_t at;

		if (groups[i]->gone || groups[i]->key == RUNQ_KEY_OTHER || !sums->nr)
			continue;
		at = probe(sums, &label);
		if (sums->index[at])
			sums->entries[sums->index[at] - 1].alive = true;
	}
}

static int parts_add(struct runq_sums *sums, struct part *parts, size_t nr, struct err *err)
{
	int rc = 0;

	qsort(parts, nr, sizeof(*parts), by_sum);
	for (size_t i = 0, end; !rc && i < nr; i = end) {
		uint64_t key = parts[i].sum->key;
		bool ended = key == RUNQ_KEY_OTHER || !sums->entries[key - 1].alive;

		for (end = i; end < nr && parts[end].sum == parts[i].sum; end++)
			ended = ended && parts[end].waits->ended;
		rc = parts[i].waits->steps ? add_steps(sums, &parts[i], end - i, ended, err)
					   : add_fine(sums, &parts[i], end - i, ended, err);
	}
	return rc;
}

int runq_sums_window(struct runq_sums *sums, const struct runq_waits_list *list,
		     struct runq_group *const *groups, size_t nr_groups, struct err *err)
{
	struct part *parts;
	bool ended = false;
	size_t nr = 0;
	int rc = 0;

	entries_clear(sums);
	parts = calloc(list->nr + 1, sizeof(*parts));
	if (!parts)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !rc && i < list->nr; i++) {
		const struct runq_waits *waits = &list->waits[i];
		struct runq_sum_entry *entry = NULL;

		ended = ended || waits->ended;
		if (waits->group->key == RUNQ_KEY_OTHER) {
			parts[nr++] = (struct part){waits->group, waits};
			continue;
		}
		if (!runq_filter_passes(sums->filter, waits->group))
			continue;
		entry = entry_of(sums, waits->group);
		if (entry)
			parts[nr++] = (struct part){entry->group, waits};
		else
			rc = err_set(err, -ENOMEM, "out of memory");
	}
	if (!rc && ended)
		note_alive(sums, groups, nr_groups);
	if (!rc)
		rc = parts_add(sums, parts, nr, err);
	free(parts);
	runq_waits_merge(&sums->waits);
	return rc;
}
