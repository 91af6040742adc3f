/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters of cgroups and of pairs of cgroups, in a limited number of series. */
#ifndef SUBTICK_SERVE_CGROUPS_H
#define SUBTICK_SERVE_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/runq/window.h"
#include "serve/export/store.h"

/*
 * Row of a cgroup, of a sum of cgroups, or of a name such as (other). The path identifies the row,
 * so the counters of a service continue after its restart.
 */
struct cgroup_series {
	bool has_series;     /* true if the row counts towards --cgroup-limit */
	bool ended;	     /* true if the cgroup was removed before the end of the last window */
	bool pod;	     /* true if the cgroup is a pod, or is inside a pod */
	uint32_t id;	     /* unique number of the row, never reused */
	uint32_t names_seq;  /* number of changes of row.names */
	uint64_t since_ns;   /* CLOCK_MONOTONIC when the series of the cgroup were added */
	/* active.seen_ns is the end of the last window in which the cgroup waited */
	struct active active;
	struct series_row row;
};

/* Returns the escaped path of the cgroup, which is the value of its label. */
static inline const char *cgroup_path(const struct cgroup_series *cgroup)
{
	return labels_next(labels_first(cgroup->row.labels));
}

/*
 * Finds or adds the row of @path. A new row does not count towards --cgroup-limit. @key selects the
 * entry of store.hints, which speeds up the lookup. Returns NULL if out of memory.
 */
struct cgroup_series *cgroups_get(struct store *store, const char *path, uint64_t key);
/* Returns NULL if the cgroup has no series. */
struct cgroup_series *cgroups_find(struct store *store, const struct runq_group *group);
/* The row (other) counts all cgroups without series. Returns NULL if out of memory. */
struct cgroup_series *cgroups_other(struct store *store);
/*
 * Adds series for the cgroup of @group if the cgroup has none, and updates the activity of the
 * cgroup. If --cgroup-limit is reached, another cgroup is evicted: a removed cgroup, else a cgroup
 * without recent waits, else the least active cgroup, provided that the new cgroup is more than
 * twice as active. A pod may evict any cgroup outside pods. Returns NULL if no cgroup can be
 * evicted.
 */
struct cgroup_series *cgroups_admit(struct store *store, const struct runq_group_window *group,
				    uint64_t now_ns);
/* Removes the series of cgroups that were removed or whose tasks have not waited for an hour. */
void cgroups_expire(struct store *store, uint64_t now_ns);

/* Sets the labels of pod, container and VM that --labels selects. */
void cgroups_set_names(struct store *store, struct cgroup_series *cgroup,
		       const struct runq_group *group);

/*
 * Pair of cgroups in the family F_RUNQ_BLAME (victim, culprit) or F_CORE_PAIRS (a cgroup, and a
 * cgroup on the sibling CPU).
 */
struct pair_series {
	struct cgroup_series *cgroups[2];
	uint32_t names_seq; /* sum of names_seq of the two cgroups when the labels were set */
	struct series_row row;
};

/* Finds a pair of cgroups. Returns NULL if the family @id does not have the pair. */
struct pair_series *pair_find(struct store *store, enum family_id id,
			      struct cgroup_series *const cgroups[2]);
/* Finds or adds a pair of cgroups. Returns NULL if out of memory. */
struct pair_series *pair_get(struct store *store, enum family_id id,
			     struct cgroup_series *const cgroups[2]);
/* Replaces a cgroup by @other in all pairs. If @other is NULL, removes the pairs of the cgroup. */
void pairs_move(struct store *store, const struct cgroup_series *cgroup,
		struct cgroup_series *other);

uint64_t active_now(const struct active *active, uint64_t now_ns);
/*
 * Adds @wait_ns to the activity of the cgroup @key and returns the activity. If all entries are in
 * use, the cgroup replaces the least active entry, provided that the activity of this entry is
 * below @wait_ns.
 */
uint64_t topk_add(struct topk *topk, uint64_t key, uint64_t wait_ns, uint64_t now_ns);
/* Removes the cgroup @key from @topk, because the cgroup now has series. */
void topk_remove(struct topk *topk, uint64_t key);

#endif
