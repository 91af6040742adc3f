/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of pods by uid, or of containers by id. */
#ifndef SUBTICK_PODS_TABLE_H
#define SUBTICK_PODS_TABLE_H

#include <stdint.h>

#include "pods/name.h"

struct pod_table_names {
	const char *namespace, *pod; /* "" of a container that is in no pod */
	const char *container;	     /* "" in a table of pods */
	const char *image;	     /* "" if unknown */
	const char *uid;	     /* of the pod; "" if unknown */
};

struct pod_table_entry;

struct pod_table {
	struct pod_table_entry **entries;
	size_t nr;
	size_t nr_left; /* entries whose file was removed */
	size_t nr_cut;	/* entries with the beginning of an id only */
	void *tree;	/* of tsearch(3), by key */
	uint64_t adds; /* calls of pod_table_add() */
	bool renames; /* the last name of a key is right: runtimes rename containers */
};

/*
 * Adds @name under @key. Two different names for one key make it unknown, unless the table renames:
 * one of them is wrong. Without memory the name stays unknown.
 */
void pod_table_add(struct pod_table *table, struct pod_text key, const struct pod_name *name);
/*
 * The file of @key was removed. Its names stay for a while: keys are never used again, and the last
 * waits of a pod come when its logs may be deleted already.
 */
void pod_table_leave(struct pod_table *table, struct pod_text key);
/* Marks the files of all entries as removed, before a scan adds those that exist. */
void pod_table_leave_all(struct pod_table *table);
/* NULL if unknown. */
const struct pod_table_names *pod_table_find(const struct pod_table *table, const char *key);
/* Names of a container, also by the beginning of its id if @pod is its pod. NULL if unknown. */
const struct pod_table_names *pod_table_find_id(const struct pod_table *table, const char *id,
						const struct pod_table_names *pod);
void pod_table_free(struct pod_table *table);

#endif
