/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which keys the JSON of each command has; names, units and texts are those of the metric list. */
#ifndef SUBTICK_REPORT_SCHEMA_H
#define SUBTICK_REPORT_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "report/metrics.h"

/*
 * One list of the JSON, such as "cpus"; "quality"; "" for keys at the top; "groups.le" for a list inside
 * the rows of another. Keys are separated by blanks. Those behind the bar "|" may be missing, as they
 * depend on options or on the machine. "pN" stands for p50, p999 and so on, "pN_ns" likewise. "then=batch"
 * is a column that shows the metric batch under another name; "name#state" is the metric name whose title is
 * state, or whose help begins so, where several have the same key.
 */
struct schema_list {
	const char *command;
	const char *list;
	const char *keys;
};

/* Ended by a NULL command; the lists of one command follow each other. */
extern const struct schema_list schema_lists[];

struct schema_key {
	const char *name; /* not terminated */
	size_t len;
	bool optional;
	const struct metric *metric; /* NULL: not in the metric list */
};

/* The next key of @keys, which is moved on; false at the end. *@optional starts as false. */
bool schema_next(const char **keys, bool *optional, struct schema_key *ret_key);

#endif
