/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Table of names of pods by uid, or of containers by id. */
#ifndef SUBTICK_PODS_TABLE_H
#define SUBTICK_PODS_TABLE_H

#include <stdint.h>

#include "pods/name.h"

struct pod_table_names {
	/* Names of the pod and of the pod's namespace; "" for a container outside a pod. */
	const char *namespace, *pod;
	const char *container;	     /* name of the container; "" in a table of pods */
	const char *image;	     /* name of the container's image, or "" if unknown */
	const char *uid;	     /* uid of the pod; "" if unknown */
};

struct pod_table_entry;

struct pod_table {
	struct pod_table_entry **entries;
	size_t nr;
	size_t nr_removed; /* number of `entries` whose file was removed */
	void *tree;	/* tsearch(3) tree by key */
	uint64_t adds;	/* number of calls of pod_table_add() so far */
	bool renames;	/* true if a new name for a known key replaces the old name */
};

/*
 * Adds @name under @key. If a key gets two different names, the name of the key becomes unknown,
 * unless @table->renames is true. If out of memory, the name of @key is unknown.
 */
void pod_table_add(struct pod_table *table, struct pod_text key, const struct pod_name *name);
/*
 * Marks the file of @key as removed. Keeps the names of @key, because subtick reads the last waits
 * of a pod after the pod's logs were deleted. Uids and ids are never reused.
 */
void pod_table_leave(struct pod_table *table, struct pod_text key);
/*
 * Marks the files of all entries as removed. pod_table_add() removes the mark of an entry, so call
 * pod_table_add() for each existing file.
 */
void pod_table_leave_all(struct pod_table *table);
/* Returns the names of @key, or NULL if unknown. */
const struct pod_table_names *pod_table_find(const struct pod_table *table, const char *key);
/*
 * Names of container @id, or NULL if unknown. An entry with a truncated id matches only if its
 * container belongs to @pod.
 */
const struct pod_table_names *pod_table_find_id(const struct pod_table *table, const char *id,
						const struct pod_table_names *pod);
void pod_table_free(struct pod_table *table);

#endif
