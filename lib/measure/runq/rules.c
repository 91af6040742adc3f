/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and applies the rules of --include and --exclude. */
#include "measure/runq/rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char *const kinds[RUNQ_RULE_NR_KINDS] = {"cgroup", "namespace", "pod", "container",
						      "qos"};

int runq_rules_add(struct runq_rules *rules, bool include, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;

	if (rules->nr == RUNQ_RULES_MAX)
		return err_set(err, -E2BIG, "at most %d rules of --include and --exclude",
			       RUNQ_RULES_MAX);
	for (int kind = 0; equals && kind < RUNQ_RULE_NR_KINDS; kind++) {
		if (strlen(kinds[kind]) != len || strncmp(text, kinds[kind], len))
			continue;
		if (!equals[1] || (kind == RUNQ_RULE_CGROUP && equals[1] != '/'))
			break;
		rules->rule[rules->nr] = (struct runq_rule){
			.include = include, .kind = kind, .pattern = strdup(equals + 1)};
		if (!rules->rule[rules->nr].pattern)
			return err_set(err, -ENOMEM, "out of memory");
		rules->nr++;
		return 0;
	}
	return err_set(err, -EINVAL,
		       "expected cgroup=/PATH, namespace=NAME, pod=NAME, container=NAME or "
		       "qos=CLASS");
}

void runq_rules_free(struct runq_rules *rules)
{
	while (rules->nr)
		free(rules->rule[--rules->nr].pattern);
}

bool runq_rules_same(const struct runq_rules *a, const struct runq_rules *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (a->rule[i].include != b->rule[i].include ||
		    a->rule[i].kind != b->rule[i].kind ||
		    strcmp(a->rule[i].pattern, b->rule[i].pattern))
			return false;
	return true;
}

bool runq_path_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	while (len > 1 && top[len - 1] == '/')
		len--;
	return !strncmp(path, top, len) && (!path[len] || path[len] == '/' || len == 1);
}

static bool matches(const struct runq_rule *rule, const char *name)
{
	if (!name)
		return false;
	return rule->kind == RUNQ_RULE_CGROUP ? runq_path_below(name, rule->pattern)
					   : !fnmatch(rule->pattern, name, 0);
}

bool runq_rules_pass(const struct runq_rules *rules, const struct runq_rules_names *names, bool later)
{
	bool includes = false;

	array_for_each(rule, rules->rule, rules->nr) {
		if (later && names->open[rule->kind])
			return true;
		if (matches(rule, names->name[rule->kind]))
			return rule->include;
		includes |= rule->include;
	}
	return !includes;
}
