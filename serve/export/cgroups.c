/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides which cgroups have metrics (series) if there are more cgroups than --cgroup-limit. */
#include "serve/export/cgroups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "pods/name.h"
#include "serve/export/store.h"
#include "view/utf8.h"

#define HALF_NS (60 * NSEC_PER_SEC)

uint64_t active_now(const struct active *active, uint64_t now_ns)
{
	double past_ns = (double)(now_ns - active->seen_ns);

	return (uint64_t)((double)active->ns * exp2(-past_ns / (double)HALF_NS));
}

static struct topk_entry *topk_find(struct topk *topk, uint64_t key)
{
	for (size_t i = 0; i < topk->nr; i++)
		if (topk->entries[i].key == key)
			return &topk->entries[i];
	return NULL;
}

/* Returns a free entry, or the least active entry if below @wait_ns, or NULL. */
static struct topk_entry *topk_slot(struct topk *topk, uint64_t wait_ns, uint64_t now_ns)
{
	struct topk_entry *least = topk->entries;

	if (topk->nr < TOPK_SIZE)
		return &topk->entries[topk->nr++];
	for (size_t i = 1; i < TOPK_SIZE; i++)
		if (active_now(&topk->entries[i].active, now_ns) < active_now(&least->active, now_ns))
			least = &topk->entries[i];
	return active_now(&least->active, now_ns) < wait_ns ? least : NULL;
}

uint64_t topk_add(struct topk *topk, uint64_t key, uint64_t wait_ns, uint64_t now_ns)
{
	struct topk_entry *entry = topk_find(topk, key);
	uint64_t active_ns = wait_ns;

	if (entry)
		active_ns += active_now(&entry->active, now_ns);
	else
		entry = topk_slot(topk, wait_ns, now_ns);
	if (entry)
		*entry = (struct topk_entry){key, {active_ns, now_ns}};
	return active_ns;
}

void topk_remove(struct topk *topk, uint64_t key)
{
	struct topk_entry *entry = topk_find(topk, key);

	if (entry)
		*entry = topk->entries[--topk->nr];
}

/*
 * Series of a removed cgroup stay for five minutes, so that every scraper reads the last values.
 * The series of a cgroup that has not waited for an hour are removed, and the counters restart at 0
 * at its next wait.
 */
#define LINGER_NS (5 * 60 * NSEC_PER_SEC)
#define SILENT_NS (60 * 60 * NSEC_PER_SEC)
/*
 * Minimum lifetime of series: two scrapes at Prometheus' default interval of one minute. Each
 * eviction makes the counters of the row (other) jump, because the counters of the evicted cgroup
 * are added to the row.
 */
#define KEEP_NS (125 * NSEC_PER_SEC)

static struct cgroup_series *cgroup_of(struct series_row *row)
{
	return (struct cgroup_series *)((char *)row - offsetof(struct cgroup_series, row));
}

static uint64_t key_of(const char *path)
{
	return labels_hash(&(struct label){.value = path}, 1);
}

/* Adds a row. @path is a result of utf8_printable(). */
static struct cgroup_series *add(struct store *store, const char *path)
{
	static const char *const names[] = {
		[CONFIG_PER_CGROUP] = "cgroup",
		[CONFIG_PER_POD] = "cgroup",
		[CONFIG_PER_NAMESPACE] = "namespace",
		[CONFIG_PER_QOS] = "qos",
	};
	const struct label label = LABEL(names[store->config->per], path);
	struct series_row *row = series_add(&store->tables[F_RUNQ], key_of(path), &label, 1);

	if (!row)
		return NULL;
	cgroup_of(row)->id = ++store->last_cgroup_id;
	return cgroup_of(row);
}

static struct cgroup_series *lookup(struct store *store, const char *path, uint64_t key,
				    bool may_add)
{
	const struct series_table *table = &store->tables[F_RUNQ];
	uint32_t *hint = &store->hints[key % (ARRAY_SIZE(store->hints))];
	struct cgroup_series *cgroup = NULL;
	struct series_row *row;
	char *shown;

	if (*hint < table->nr && !strcmp(cgroup_path(cgroup_of(table->rows[*hint])), path))
		return cgroup_of(table->rows[*hint]);
	/* Cgroups with the same escaped path share a row, because labels must be unique. */
	shown = utf8_printable(path, 0);
	row = shown ? series_find(table, key_of(shown), shown) : NULL;
	if (row)
		cgroup = cgroup_of(row);
	else if (shown && may_add)
		cgroup = add(store, shown);
	free(shown);
	if (cgroup)
		*hint = cgroup->row.index;
	return cgroup;
}

struct cgroup_series *cgroups_get(struct store *store, const char *path, uint64_t key)
{
	return lookup(store, path, key, true);
}

struct cgroup_series *cgroups_find(struct store *store, const struct runq_group *group)
{
	struct cgroup_series *cgroup = lookup(store, group->path, group->key, false);

	return cgroup && cgroup->has_series ? cgroup : NULL;
}

struct cgroup_series *cgroups_other(struct store *store)
{
	static const struct runq_party other = {.kind = RUNQ_PARTY_OTHER};

	return cgroups_get(store, runq_party_path(&other), RUNQ_KEY_OTHER);
}

void cgroups_set_names(struct store *store, struct cgroup_series *cgroup,
		       const struct runq_group *group)
{
	static const struct runq_group_names unknown;
	const struct runq_group_names *names = group->names ? group->names : &unknown;
	bool vm = cgroup_runtime_has_vms(group->runtime);
	const char *const values[CONFIG_NR_LABELS] = {
		[CONFIG_LABEL_namespace] = names->namespace,
		[CONFIG_LABEL_pod] = names->pod,
		[CONFIG_LABEL_container] = names->container,
		[CONFIG_LABEL_pod_uid] = group->pod_uid,
		[CONFIG_LABEL_container_id] = group->container_id,
		[CONFIG_LABEL_image] = names->image,
		[CONFIG_LABEL_qos] = group->qos,
		[CONFIG_LABEL_vm] = vm ? group->container_id : NULL,
	};
	struct label pairs[CONFIG_NR_LABELS];
	size_t nr = 0;

	/* Only pods, containers and VMs have names. */
	for (int i = 0; (group->pod_uid || group->container_id) && i < CONFIG_NR_LABELS; i++)
		if (store->config->labels >> i & 1 && values[i])
			pairs[nr++] = (struct label)LABEL(config_label_names[i], values[i]);
	if (series_set_names(&store->tables[F_RUNQ], &cgroup->row, pairs, nr))
		cgroup->names_seq++;
}

/* Adds all counters of @cgroup to @other, except pressure: wall times of cgroups overlap. */
static void fold(struct store *store, struct cgroup_series *cgroup, struct cgroup_series *other)
{
	static const enum family_id ids[] = {F_RUNQ_CAUSE, F_RUNQ_IDLE, F_RUNQ_IDLE_WAITS,
						 F_RUNQ_AVOIDABLE, F_RUNQ_EXCLUDED};
	const struct series *latency = &store->series[F_RUNQ];
	const union word *words = &cgroup->row.words[latency->at];

	if (series_shows(latency, &cgroup->row, 0)) {
		for (unsigned int i = 0; i < latency->words; i++)
			series_sample(latency, &other->row, 0)[i].u64 += words[i].u64;
		store_single(store, F_RUNQ_FOLDED, STORE_FOLDED_WAITS)->u64 +=
			words[latency->nr_le].u64;
	}
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const struct series *series = &store->series[ids[i]];

		for (unsigned int part = 0; part < series_parts(series); part++)
			if (series_shows(series, &cgroup->row, part))
				store_sample(store, &other->row, ids[i], part)->u64 +=
					cgroup->row.words[series->at + part].u64;
	}
}

/* Removes the series of a cgroup, and adds its counters to @other unless @other is NULL. */
static void remove_cgroup(struct store *store, struct cgroup_series *cgroup,
			  struct cgroup_series *other)
{
	if (other)
		fold(store, cgroup, other);
	pairs_move(store, cgroup, other);
	store->nr_cgroups--;
	series_remove(&store->tables[F_RUNQ], &cgroup->row);
}

void cgroups_expire(struct store *store, uint64_t now_ns)
{
	const struct series_table *table = &store->tables[F_RUNQ];

	for (size_t i = table->nr; i-- > 0;) {
		struct cgroup_series *cgroup = cgroup_of(table->rows[i]);

		if (cgroup->has_series &&
		    now_ns - cgroup->active.seen_ns >= (cgroup->ended ? LINGER_NS : SILENT_NS))
			remove_cgroup(store, cgroup, NULL);
	}
}

static bool goes_before(const struct cgroup_series *a, const struct cgroup_series *b)
{
	if (a->ended != b->ended)
		return a->ended;
	if (a->pod != b->pod)
		return b->pod;
	return a->active.seen_ns < b->active.seen_ns;
}

static void evict(struct store *store, struct cgroup_series *cgroup, enum store_evicted reason)
{
	remove_cgroup(store, cgroup, cgroups_other(store));
	store_single(store, F_RUNQ_EVICTED, reason)->u64++;
}

/*
 * Evicts the first cgroup in the order of goes_before(). A cgroup that exists is evicted only if
 * its last wait was KEEP_NS ago, or if @for_pod is true and the cgroup is outside pods. Returns
 * false if no cgroup can be evicted.
 */
static bool evict_idle(struct store *store, uint64_t now_ns, bool for_pod)
{
	const struct series_table *table = &store->tables[F_RUNQ];
	struct cgroup_series *first = NULL;
	bool outside;

	for (size_t i = 0; i < table->nr; i++) {
		struct cgroup_series *cgroup = cgroup_of(table->rows[i]);

		if (cgroup->has_series && (!first || goes_before(cgroup, first)))
			first = cgroup;
	}
	if (!first)
		return false;
	outside = for_pod && !first->pod;
	if (!first->ended && !outside && now_ns - first->active.seen_ns < KEEP_NS)
		return false;
	evict(store, first,
	      first->ended ? STORE_ENDED
	      : outside	   ? STORE_PRIORITY
			   : STORE_SILENT);
	return true;
}

/*
 * Returns the least active cgroup whose series are older than KEEP_NS, or NULL. Considers pods only
 * if @for_pod is true. @ret_active_ns is the activity, or UINT64_MAX.
 */
static struct cgroup_series *least_active(const struct store *store, bool for_pod, uint64_t now_ns,
					  uint64_t *ret_active_ns)
{
	const struct series_table *table = &store->tables[F_RUNQ];
	struct cgroup_series *least = NULL;

	*ret_active_ns = UINT64_MAX;
	for (size_t i = 0; i < table->nr; i++) {
		struct cgroup_series *cgroup = cgroup_of(table->rows[i]);
		uint64_t active;

		if (!cgroup->has_series || now_ns - cgroup->since_ns < KEEP_NS ||
		    (cgroup->pod && !for_pod))
			continue;
		active = active_now(&cgroup->active, now_ns);
		if (active >= *ret_active_ns)
			continue;
		least = cgroup;
		*ret_active_ns = active;
	}
	return least;
}

/*
 * Evicts a cgroup in favour of a cgroup with the activity @active. If no cgroup is idle, evicts the
 * least active cgroup if @active is more than twice as high. The factor keeps similar cgroups from
 * evicting each other repeatedly.
 */
static bool make_room(struct store *store, bool for_pod, uint64_t active, uint64_t now_ns)
{
	struct topk *topk = &store->topk;
	uint64_t *least_ns = &topk->least_ns[for_pod];
	struct cgroup_series *least;

	if (topk->full_ns[for_pod] == now_ns && active / 2 <= *least_ns)
		return false;
	if (!evict_idle(store, now_ns, for_pod)) {
		least = least_active(store, for_pod, now_ns, least_ns);
		if (active / 2 <= *least_ns) {
			topk->full_ns[for_pod] = now_ns;
			return false;
		}
		evict(store, least, STORE_ACTIVITY);
	}
	topk->full_ns[0] = topk->full_ns[1] = 0;
	return true;
}

/* Adds series for a cgroup. Returns NULL if no other cgroup can be evicted. */
static struct cgroup_series *assign_series(struct store *store,
					   const struct runq_group_window *group, uint64_t now_ns)
{
	uint64_t active = group->sum_ns, key, limit = store->config->cgroup_limit;
	const struct runq_group *who = group->party.group;
	struct cgroup_series *cgroup;

	if (store->nr_cgroups >= limit) {
		if (group->ended)
			return NULL;
		key = key_of(who->path);
		active = topk_add(&store->topk, key, active, now_ns);
		/* SIGHUP may have lowered the limit by more than one cgroup. */
		while (store->nr_cgroups >= limit)
			if (!make_room(store, who->pod_uid, active, now_ns))
				return NULL;
		topk_remove(&store->topk, key);
	}
	cgroup = cgroups_get(store, who->path, who->key);
	if (!cgroup)
		return NULL;
	store->nr_cgroups++;
	cgroup->has_series = true;
	cgroup->since_ns = now_ns;
	cgroup->active = (struct active){active, now_ns};
	return cgroup;
}

struct cgroup_series *cgroups_admit(struct store *store, const struct runq_group_window *group,
				    uint64_t now_ns)
{
	struct cgroup_series *cgroup = cgroups_find(store, group->party.group);

	if (!cgroup)
		cgroup = assign_series(store, group, now_ns);
	if (!cgroup)
		return NULL;
	/* If cgroups_admit() is called twice for one window, the wait time is added only once. */
	if (cgroup->active.seen_ns != now_ns)
		cgroup->active.ns = active_now(&cgroup->active, now_ns) + group->sum_ns;
	cgroup->active.seen_ns = now_ns;
	cgroup->ended = group->ended;
	cgroup->pod = group->party.group->pod_uid;
	return cgroup;
}
