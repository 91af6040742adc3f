/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks up names of groups: namespace, pod, container, and a short display name. */
#include "measure/runq/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pods/pods.h"

/* True for the cgroup of a container, false for a cgroup inside a container. */
static bool is_container(const struct runq_group *group)
{
	const char *last = strrchr(group->path, '/');

	return group->container_id && last && strstr(last, group->container_id);
}

/*
 * Formats the display name: "shop/web" for a pod, "shop/web/nginx" for a container in a pod,
 * "nginx" for a container outside pods. A container without a name, such as a pause container, is
 * shown by its id.
 */
static const char *shown(const struct runq_group *group, const struct pods_names *names, char *at,
			 size_t size)
{
	if (group->sum && !group->container_id && names->namespace)
		snprintf(at, size, "%s/%s", names->namespace, names->pod);
	else if (!is_container(group))
		return NULL;
	else if (!names->namespace)
		snprintf(at, size, "%s", names->container);
	else if (names->container)
		snprintf(at, size, "%s/%s/%s", names->namespace, names->pod, names->container);
	else
		snprintf(at, size, "%s/%s/%.12s", names->namespace, names->pod,
			 group->container_id);
	return at;
}

static size_t size_of(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static const char *put(char **at, const char *text)
{
	char *start = *at;

	if (!text)
		return NULL;
	*at = stpcpy(start, text) + 1;
	return start;
}

static struct runq_group_names *names_new(const struct runq_group *group,
					  const struct pods_names *names)
{
	size_t all = size_of(names->namespace) + size_of(names->pod) + size_of(names->container);
	struct runq_group_names *own =
		malloc(sizeof(*own) + all + size_of(names->image) + all + 16);
	char *at = (char *)(own + 1);

	if (!own)
		return NULL;
	own->namespace = put(&at, names->namespace);
	own->pod = put(&at, names->pod);
	own->container = put(&at, names->container);
	own->image = put(&at, names->image);
	own->shown = shown(group, names, at, all + 16);
	return own;
}

static bool name_changed(const char *have, const char *found)
{
	return found && (!have || strcmp(have, found));
}

void runq_names_resolve(const struct pods *pods, struct runq_group *group)
{
	const struct runq_group_names *have = group->names;
	struct runq_group_names *names;
	struct pods_names found;

	if ((!group->pod_uid && !group->container_id) || group->names_at == pods_generation(pods))
		return;
	group->names_at = pods_generation(pods);
	if (have && group->pod_uid && (!group->container_id || (have->container && have->image)))
		return;
	if (!pods_find(pods, group->pod_uid, group->container_id, &found))
		return;
	if (have && !name_changed(have->container, found.container) &&
	    !name_changed(have->image, found.image))
		return;
	names = names_new(group, &found);
	if (!names)
		return;
	free(group->names);
	group->names = names;
	/* look up the group's rollup row again, because the rollup row depends on the namespace */
	runq_group_put(group->rollup);
	group->rollup = NULL;
}
