/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules of --include and --exclude. The first rule that matches a cgroup applies to the cgroup. */
#ifndef SUBTICK_MEASURE_RUNQ_RULES_H
#define SUBTICK_MEASURE_RUNQ_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define RUNQ_RULES_MAX 64

enum runq_rule_kind {
	RUNQ_RULE_CGROUP, /* path of a cgroup; matches the cgroup and its descendants */
	RUNQ_RULE_NAMESPACE,
	RUNQ_RULE_POD,
	RUNQ_RULE_CONTAINER,
	RUNQ_RULE_QOS,
	RUNQ_RULE_NR_KINDS,
};

struct runq_rule {
	bool include;
	enum runq_rule_kind kind;
	char *pattern; /* shell pattern; for RUNQ_RULE_CGROUP the path of a cgroup */
};

struct runq_rules {
	struct runq_rule rule[RUNQ_RULES_MAX];
	size_t nr;
};

/* Names of a cgroup, by kind of rule. */
struct runq_rules_names {
	/* name to compare with the pattern; NULL if unknown */
	const char *name[RUNQ_RULE_NR_KINDS];
	bool open[RUNQ_RULE_NR_KINDS]; /* true if the name can still change */
};

/* True if @path is the cgroup path @top or a descendant of @top. */
bool runq_path_below(const char *path, const char *top);
/* Adds the rule @text of the form KIND=PATTERN. */
int runq_rules_add(struct runq_rules *rules, bool include, const char *text, struct err *err);
void runq_rules_free(struct runq_rules *rules);
bool runq_rules_same(const struct runq_rules *a, const struct runq_rules *b);
/*
 * True if a cgroup passes the rules. If no rule matches, the cgroup passes unless --include was
 * given. If @later is true, also returns true for a cgroup that may pass when its unknown names
 * become known.
 */
bool runq_rules_pass(const struct runq_rules *rules, const struct runq_rules_names *names, bool later);

#endif
