/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of cgroups and of pairs of cgroups, in a limited number of series. */
#ifndef SUBTICK_SERVE_CGROUPS_H
#define SUBTICK_SERVE_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/runq/window.h"
#include "serve/export/store.h"

/*
 * A cgroup, or the sum that the series are by (namespace, QoS class), or a party in parentheses such
 * as (other). Found by its path, which is the value of its label: a service that was restarted has
 * the same path and another id, and its counters continue.
 */
struct cgroup_series {
	bool has_place;	     /* counts towards --cgroup-limit; its counters are not in (other) */
	bool ended;	     /* the cgroup was gone by the end of the last window */
	bool pod;	     /* a pod, or in a pod */
	uint32_t id;	     /* unique, never reused */
	uint32_t names_seq;  /* number of changes of row.names */
	uint64_t since_ns;   /* when it got its place, CLOCK_MONOTONIC */
	struct active active; /* seen_ns: end of the last window with a wait */
	struct series_row row; /* words: enum store_cgroup */
};

/* As its label has it. */
static inline const char *cgroup_path(const struct cgroup_series *cgroup)
{
	return labels_next(labels_first(cgroup->row.labels));
}

/* Finds a cgroup by path, or adds it without a place. NULL: out of memory. @key: for the fast path. */
struct cgroup_series *cgroups_get(struct store *store, const char *path, uint64_t key);
/* NULL: the group has no place. */
struct cgroup_series *cgroups_placed(struct store *store, const struct runq_group *group);
/* Holds the counters of all cgroups without a place. */
struct cgroup_series *cgroups_other(struct store *store);
/*
 * Gives the group of a window a place and updates its activity. If all places are taken, a live
 * cgroup evicts the cgroup that ended longest ago, or else the cgroup that has been silent longest. A
 * pod evicts a cgroup outside pods, silent or not. Otherwise a cgroup evicts the least active one if
 * it is more than twice as active. NULL: no place.
 */
struct cgroup_series *cgroups_admit(struct store *store, const struct runq_group_window *group,
				    uint64_t now_ns);
/* Removes cgroups that ended or were silent for long enough. */
void cgroups_expire(struct store *store, uint64_t now_ns);

/* Sets the names of pod and container as the settings ask for them. */
void cgroups_set_names(struct store *store, struct cgroup_series *cgroup,
		       const struct runq_group *group);

/* Time that tasks of the victim waited while tasks of the culprit ran. */
struct blame_series {
	struct cgroup_series *victim, *culprit;
	uint32_t names_seq; /* sum of the two when the names of the pair were set */
	struct series_row row;
};

/* NULL: not found. */
struct blame_series *blame_find(struct store *store, const struct cgroup_series *victim,
				const struct cgroup_series *culprit);
/* Finds a pair, or adds it. NULL: out of memory. */
struct blame_series *blame_get(struct store *store, struct cgroup_series *victim,
			       struct cgroup_series *culprit);
/* Replaces a cgroup by @other in all pairs. NULL removes its pairs. */
void blame_move(struct store *store, const struct cgroup_series *cgroup,
		struct cgroup_series *other);

uint64_t active_now(const struct active *active, uint64_t now_ns);
/*
 * Adds the wait time of a cgroup in the window that ends now; returns its activity. If all entries
 * are in use, it replaces the least active one, if that is less active than @wait_ns.
 */
uint64_t topk_add(struct topk *topk, uint64_t key, uint64_t wait_ns, uint64_t now_ns);
/* The cgroup has series of its own now. */
void topk_remove(struct topk *topk, uint64_t key);

#endif
