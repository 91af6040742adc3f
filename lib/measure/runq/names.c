/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names for groups: namespace, pod, container, and the short form for people. */
#include "measure/runq/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the group is the container itself, rather than a cgroup that was made inside it. */
static bool is_container(const struct runq_group *group)
{
	const char *last = strrchr(group->path, '/');

	return group->container_id && last && strstr(last, group->container_id);
}

/* "shop/web", "shop/web/nginx"; a container without a name of its own, such as pause, by its id. */
static const char *shown(const struct runq_group *group, const struct pods_names *names, char *at,
			 size_t size)
{
	if (group->sum && !group->container_id)
		snprintf(at, size, "%s/%s", names->namespace, names->pod);
	else if (!is_container(group))
		return NULL;
	else if (names->container)
		snprintf(at, size, "%s/%s/%s", names->namespace, names->pod, names->container);
	else
		snprintf(at, size, "%s/%s/%.12s", names->namespace, names->pod,
			 group->container_id);
	return at;
}

static struct runq_group_names *names_new(const struct runq_group *group,
					  const struct pods_names *names)
{
	size_t namespace = strlen(names->namespace) + 1, pod = strlen(names->pod) + 1;
	size_t container = names->container ? strlen(names->container) + 1 : 0;
	size_t room = namespace + pod + container + 16;
	struct runq_group_names *own =
		malloc(sizeof(*own) + namespace + pod + container + room);
	char *at = (char *)(own + 1);

	if (!own)
		return NULL;
	own->namespace = memcpy(at, names->namespace, namespace);
	own->pod = memcpy(at += namespace, names->pod, pod);
	at += pod;
	own->container = container ? memcpy(at, names->container, container) : NULL;
	own->shown = shown(group, names, at + container, room);
	return own;
}

void runq_names_resolve(const struct pods *pods, struct runq_group *group)
{
	const struct runq_group_names *have = group->names;
	struct runq_group_names *names;
	struct pods_names found;

	/* A pause container never gets a name: of all containers without one it is looked up again. */
	if (!group->pod_uid || (have && (have->container || !group->container_id)))
		return;
	if (!pods_find(pods, group->pod_uid, group->container_id, &found) || !found.namespace ||
	    (have && !found.container))
		return;
	names = names_new(group, &found);
	if (!names)
		return;
	free(group->names);
	group->names = names;
}
