/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the requested cgroups of --cgroup and applies the filter to groups. */
#include "measure/runq/filter.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "host/cgroup.h"

int runq_filter_open(struct runq_filter *filter, const char *mount, const char *const *paths,
		     size_t nr, struct err *err)
{
	char path[PATH_MAX];
	uint64_t id;
	int rc;

	filter->requested = calloc(nr + 1, sizeof(*filter->requested));
	if (!filter->requested)
		return err_set(err, -ENOMEM, "out of memory");
	array_for_each(wanted, paths, nr) {
		struct runq_group *group;

		rc = cgroup_find(mount, *wanted, path, &id, err);
		if (rc)
			return rc;
		group = runq_group_new(&(struct runq_group){.cgroup_id = id}, path);
		if (!group)
			return err_set(err, -ENOMEM, "out of memory");
		filter->requested[filter->nr++] = group;
	}
	return 0;
}

void runq_filter_close(struct runq_filter *filter)
{
	array_for_each(group, filter->requested, filter->nr)
		runq_group_put(*group);
	free(filter->requested);
}

const struct runq_group *runq_filter_nearest(const struct runq_filter *filter, const char *path)
{
	const struct runq_group *best = NULL;

	array_for_each(requested, filter->requested, filter->nr)
		if (runq_path_below(path, (*requested)->path) &&
		    (!best || strlen((*requested)->path) > strlen(best->path)))
			best = *requested;
	return best;
}

bool runq_filter_any(const struct runq_filter *filter)
{
	return filter->nr || (filter->rules && filter->rules->nr);
}

/*
 * Names by which the rules of --include and --exclude select a group. A known name does not change,
 * unless the group is a container outside pods.
 */
static struct runq_rules_names names_of(const struct runq_group *group)
{
	static const struct runq_group_names none;
	const struct runq_group_names *names = group->names ? group->names : &none;
	bool unnamed = group->pod_uid && !names->namespace;

	return (struct runq_rules_names){
		.name = {
			[RUNQ_RULE_CGROUP] = group->path,
			[RUNQ_RULE_NAMESPACE] = names->namespace,
			[RUNQ_RULE_POD] = names->pod,
			[RUNQ_RULE_CONTAINER] = names->container,
			[RUNQ_RULE_QOS] = group->qos,
		},
		.open = {
			[RUNQ_RULE_NAMESPACE] = unnamed,
			[RUNQ_RULE_POD] = unnamed,
			[RUNQ_RULE_CONTAINER] = group->container_id &&
				(!group->pod_uid || !names->container),
		},
	};
}

static bool passes(const struct runq_filter *filter, const struct runq_group *group, bool later)
{
	struct runq_rules_names names = names_of(group);

	return (!filter->nr || runq_filter_nearest(filter, group->path)) &&
	       (!filter->rules || runq_rules_pass(filter->rules, &names, later));
}

bool runq_filter_passes(const struct runq_filter *filter, const struct runq_group *group)
{
	return passes(filter, group, false);
}

bool runq_filter_passes_party(const struct runq_filter *filter, const struct runq_party *party)
{
	const struct runq_group named = {.path = runq_party_path(party)};

	return passes(filter, party->group ?: &named, false);
}

bool runq_filter_never(const struct runq_filter *filter, const struct runq_group *group)
{
	return !passes(filter, group, true);
}
