/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and applies the rules of --include and --exclude. */
#include "select.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[SELECT_NR_KINDS] = {"cgroup", "namespace", "pod", "container", "qos"};

int select_add(struct select_rules *rules, bool include, const char *text, struct err *err)
{
	const char *option = include ? "include" : "exclude", *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;

	if (rules->nr == SELECT_MAX)
		return err_set(err, -E2BIG, "include and exclude: at most %d rules", SELECT_MAX);
	for (int kind = 0; equals && kind < SELECT_NR_KINDS; kind++) {
		if (strlen(kinds[kind]) != len || strncmp(text, kinds[kind], len))
			continue;
		if (!equals[1] || (kind == SELECT_CGROUP && equals[1] != '/'))
			break;
		rules->rule[rules->nr] = (struct select_rule){
			.include = include, .kind = kind, .pattern = strdup(equals + 1)};
		if (!rules->rule[rules->nr].pattern)
			return err_set(err, -ENOMEM, "out of memory");
		rules->nr++;
		return 0;
	}
	return err_set(err, -EINVAL,
		       "%s %.80s: expected cgroup=/PATH, namespace=NAME, pod=NAME, container=NAME or "
		       "qos=CLASS",
		       option, text);
}

void select_free(struct select_rules *rules)
{
	while (rules->nr)
		free(rules->rule[--rules->nr].pattern);
}

bool select_same(const struct select_rules *a, const struct select_rules *b)
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

static bool is_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	while (len > 1 && top[len - 1] == '/')
		len--;
	return !strncmp(path, top, len) && (!path[len] || path[len] == '/' || len == 1);
}

static bool matches(const struct select_rule *rule, const char *name)
{
	if (!name)
		return false;
	return rule->kind == SELECT_CGROUP ? is_below(name, rule->pattern)
					   : !fnmatch(rule->pattern, name, 0);
}

bool select_passes(const struct select_rules *rules, const struct select_names *names)
{
	bool includes = false;

	for (size_t i = 0; i < rules->nr; i++) {
		if (matches(&rules->rule[i], names->name[rules->rule[i].kind]))
			return rules->rule[i].include;
		includes |= rules->rule[i].include;
	}
	return !includes;
}
