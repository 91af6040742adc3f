/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens, finds and closes the sources of CPU load in a struct source_set. */
#include "measure/load/sources.h"

#include <errno.h>
#include <string.h>

int source_set_open(struct source_set *set, const char *name, const struct load_source_opts *opts,
		    struct err *err)
{
	int rc;

	*set = (struct source_set){0};
	rc = load_source_open(name, opts, &set->source[0], &set->passed_over);
	if (!rc)
		set->nr = 1;
	else if (err)
		*err = set->passed_over;
	return rc;
}

static bool is_named(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

void source_set_add(struct source_set *set, const char *const *names,
		    const struct load_source_opts *opts)
{
	for (const struct load_source_ops *const *ops = load_sources(); *ops; ops++) {
		if ((names && !is_named(names, (*ops)->name)) ||
		    source_set_find(set, (*ops)->name) >= 0 || set->nr == SOURCE_SET_MAX)
			continue;
		if (!load_source_open((*ops)->name, opts, &set->source[set->nr], NULL))
			set->nr++;
	}
}

int source_set_check_event(const struct source_set *set, const char *event, struct err *err)
{
	for (unsigned int i = 0; i < set->nr; i++)
		if (set->source[i]->ops->counts)
			event = NULL;
	return event ? err_set(err, -EINVAL,
			       "event %s: source %s counts no events; use source bpf-pmu, perf-tsc or "
			       "perf-calibrated",
			       event, set->source[0]->ops->name)
		     : 0;
}

void source_set_close(struct source_set *set)
{
	for (unsigned int i = 0; i < set->nr; i++)
		load_source_close(set->source[i]);
	set->nr = 0;
}

int source_set_find(const struct source_set *set, const char *name)
{
	for (unsigned int i = 0; i < set->nr; i++)
		if (!strcmp(set->source[i]->ops->name, name))
			return (int)i;
	return -1;
}
