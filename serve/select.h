/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which cgroups get run-queue series: rules in the order in which they were given. */
#ifndef SUBTICK_SERVE_SELECT_H
#define SUBTICK_SERVE_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define SELECT_MAX 64

enum select_kind {
	SELECT_CGROUP, /* a path, and everything below it */
	SELECT_NAMESPACE,
	SELECT_POD,
	SELECT_CONTAINER,
	SELECT_QOS,
	SELECT_NR_KINDS,
};

struct select_rule {
	bool include;
	enum select_kind kind;
	char *pattern; /* of a shell, unless it is a path */
};

struct select_rules {
	struct select_rule rule[SELECT_MAX];
	size_t nr;
};

/* What is known of a cgroup, by kind; NULL if unknown. */
struct select_names {
	const char *name[SELECT_NR_KINDS];
};

/* @text is KIND=PATTERN. */
int select_add(struct select_rules *rules, bool include, const char *text, struct err *err);
void select_free(struct select_rules *rules);
bool select_same(const struct select_rules *a, const struct select_rules *b);
/*
 * The first rule that matches decides. If none does, everything passes, unless there is a rule that
 * includes something.
 */
bool select_passes(const struct select_rules *rules, const struct select_names *names);

#endif
