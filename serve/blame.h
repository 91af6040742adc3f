/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which cgroup waited for which. */
#ifndef SUBTICK_SERVE_BLAME_H
#define SUBTICK_SERVE_BLAME_H

#include "cgroups.h"

/* Time that tasks of the victim waited while tasks of the culprit ran. */
struct blame_series {
	struct cgroup_series *victim, *culprit;
	uint32_t names_seq; /* sum of the two when the names of the pair were set */
	struct series_row row;
};

/* The pair; NULL if there is none. */
struct blame_series *blame_find(struct store *store, const struct cgroup_series *victim,
				const struct cgroup_series *culprit);
/* Adds the pair if there is none. NULL if out of memory. */
struct blame_series *blame_get(struct store *store, struct cgroup_series *victim,
			       struct cgroup_series *culprit);
/* Adds the pairs of a cgroup to those of @other, or drops them if @other is NULL. */
void blame_move(struct store *store, const struct cgroup_series *cgroup,
		struct cgroup_series *other);

#endif
