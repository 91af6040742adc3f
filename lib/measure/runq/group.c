/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of tasks with reference counts, and names of victims and culprits. */
#include "measure/runq/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pods/name.h"

/*
 * Buffer size for the path of a cgroup: the names in struct runq_head, a slash before each name,
 * and the mark "/…(ID)" of a truncated path.
 */
#define PATH_SIZE (sizeof(((struct runq_head *)0)->path) + RUNQ_DEPTH + 32)

struct runq_group *runq_group_new(const struct runq_group *from, const char *path)
{
	size_t len = strlen(path) + 1, pod, container;
	struct cgroup_name name;
	struct runq_group *group;
	char *at;

	cgroup_name_parse(path, &name);
	pod = strlen(name.pod_uid);
	container = strlen(name.container_id);
	group = malloc(sizeof(*group) + len + pod + 1 + container + 1);
	if (!group)
		return NULL;
	*group = *from;
	group->path = at = memcpy(group + 1, path, len);
	at = memcpy(at + len, name.pod_uid, pod + 1);
	group->pod_uid = pod ? at : NULL;
	at = memcpy(at + pod + 1, name.container_id, container + 1);
	group->container_id = container ? at : NULL;
	group->runtime = name.runtime;
	/* outside pods a name such as "burstable" is not a QoS class */
	group->qos = pod ? name.qos : NULL;
	group->pod_len = name.pod_len;
	group->refs = 1;
	return group;
}

/* Reads the path from NUL-terminated names, leaf first: "b\0a\0" is "/a/b". */
static void path_read(const struct runq_head *head, char ret_path[PATH_SIZE])
{
	const char *part[RUNQ_DEPTH], *at = head->path, *end = at + sizeof(head->path);
	unsigned int nr = 0;
	char *to = ret_path;

	/*
	 * "/…(ID)" replaces the levels that the BPF programs did not read. The cgroup id
	 * distinguishes truncated paths that end with the same names.
	 */
	if (head->depth >= RUNQ_DEPTH)
		to += sprintf(to, "/…(%" PRIu64 ")", (uint64_t)head->cgroup_id);

	while (nr < head->depth && nr < RUNQ_DEPTH && at < end && *at) {
		part[nr++] = at;
		at += strnlen(at, end - at) + 1;
	}
	if (!nr && to == ret_path)
		stpcpy(to, "/");
	while (nr--)
		to += sprintf(to, "/%.*s", (int)(end - part[nr]), part[nr]);
}

struct runq_group *runq_group_read(enum runq_per per, uint64_t key, const struct runq_head *head)
{
	/* copy the head: the BPF programs can reuse the slot for another group at any time */
	struct runq_head copy = *head;
	struct runq_group group = {
		.key = key, .cgroup_id = copy.cgroup_id, .pid = copy.pid, .tgid = copy.tgid};
	char path[PATH_SIZE];

	memcpy(group.comm, copy.comm, sizeof(copy.comm));
	if (key == RUNQ_KEY_OTHER)
		return runq_group_new(&group, "(other)");
	switch (per) {
	case RUNQ_PER_COMM:
		return runq_group_new(&group, group.comm);
	case RUNQ_PER_CPU:
		group.cpu = key - 1;
		snprintf(path, sizeof(path), "CPU %u", group.cpu);
		return runq_group_new(&group, path);
	default:
		group.cut = copy.depth >= RUNQ_DEPTH;
		path_read(&copy, path);
		return runq_group_new(&group, path);
	}
}

bool runq_group_vm(const struct runq_group *group, char ret_name[VM_NAME])
{
	if (group->vm_len)
		snprintf(ret_name, VM_NAME, "%.*s", (int)group->vm_len, group->path);
	return group->vm_len;
}

void runq_group_get(const struct runq_group *group)
{
	if (group)
		((struct runq_group *)group)->refs++;
}

void runq_group_put(const struct runq_group *group)
{
	struct runq_group *own = (struct runq_group *)group;

	if (!own || --own->refs)
		return;
	runq_group_put(own->rollup);
	free(own->names);
	free((char *)own->vm_cgroup);
	free(own);
}

struct runq_party runq_party_of(uint64_t key, const struct runq_group *group)
{
	/* element i is the kind of the victim or culprit with the reserved key -i */
	static const enum runq_party_kind kinds[] = {
		[-RUNQ_KEY_IDLE] = RUNQ_PARTY_IDLE,
		[-RUNQ_KEY_KTHREAD] = RUNQ_PARTY_KTHREADS,
		[-RUNQ_KEY_QUOTA] = RUNQ_PARTY_QUOTA,
		[-RUNQ_KEY_UNKNOWN] = RUNQ_PARTY_UNKNOWN,
		[-RUNQ_KEY_MOVED] = RUNQ_PARTY_OTHER_CORE,
		[-RUNQ_KEY_OTHER] = RUNQ_PARTY_OTHER,
		[-RUNQ_KEY_EXCLUDED] = RUNQ_PARTY_EXCLUDED,
	};

	if (key >= RUNQ_KEY_EXCLUDED)
		return (struct runq_party){kinds[-key], NULL};
	return (struct runq_party){group ? RUNQ_PARTY_GROUP : RUNQ_PARTY_GONE, group};
}

const char *runq_party_path(const struct runq_party *party)
{
	static const char *const words[] = {
		[RUNQ_PARTY_GONE] = "(gone)",
		[RUNQ_PARTY_IDLE] = "(idle)",
		[RUNQ_PARTY_KTHREADS] = "(kernel threads)",
		[RUNQ_PARTY_QUOTA] = "(quota)",
		[RUNQ_PARTY_UNKNOWN] = "(unknown)",
		[RUNQ_PARTY_OTHER_CORE] = "(other core)",
		[RUNQ_PARTY_OTHER] = "(other)",
		[RUNQ_PARTY_EXCLUDED] = "(excluded)",
	};

	return party->kind == RUNQ_PARTY_GROUP ? party->group->path : words[party->kind];
}

const char *runq_party_key(enum runq_per per, const struct runq_party *party, char buf[32])
{
	if (per != RUNQ_PER_TASK || party->kind != RUNQ_PARTY_GROUP || party->group->sum)
		return runq_party_path(party);
	snprintf(buf, 32, "%s/%u", party->group->comm, party->group->pid);
	return buf;
}

const char *runq_party_name(enum runq_per per, const struct runq_party *party, char buf[32])
{
	if (party->kind == RUNQ_PARTY_GROUP && (per != RUNQ_PER_TASK || party->group->sum) &&
	    party->group->names && party->group->names->shown)
		return party->group->names->shown;
	return runq_party_key(per, party, buf);
}
