/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups by reference, and the words for what is no group. */
#include "measure/runq/group.h"

#include <stdlib.h>
#include <string.h>

struct runq_group *runq_group_new(const struct runq_group *from, const char *path)
{
	size_t len = strlen(path) + 1;
	struct runq_group *group = malloc(sizeof(*group) + len);

	if (!group)
		return NULL;
	*group = *from;
	group->path = memcpy(group + 1, path, len);
	group->refs = 1;
	return group;
}

struct runq_group *runq_group_get(struct runq_group *group)
{
	group->refs++;
	return group;
}

void runq_group_put(struct runq_group *group)
{
	if (group && !--group->refs)
		free(group);
}

struct runq_party runq_party_of(uint64_t key, const struct runq_group *group)
{
	switch (key) {
	case RUNQ_KEY_IDLE:
		return (struct runq_party){RUNQ_PARTY_IDLE, NULL};
	case RUNQ_KEY_KTHREAD:
		return (struct runq_party){RUNQ_PARTY_KTHREADS, NULL};
	case RUNQ_KEY_QUOTA:
		return (struct runq_party){RUNQ_PARTY_QUOTA, NULL};
	case RUNQ_KEY_UNKNOWN:
		return (struct runq_party){RUNQ_PARTY_UNKNOWN, NULL};
	case RUNQ_KEY_MOVED:
		return (struct runq_party){RUNQ_PARTY_OTHER_CORE, NULL};
	case RUNQ_KEY_OTHER:
		return (struct runq_party){RUNQ_PARTY_OTHER, NULL};
	default:
		return (struct runq_party){group ? RUNQ_PARTY_GROUP : RUNQ_PARTY_GONE, group};
	}
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
	};

	return party->kind == RUNQ_PARTY_GROUP ? party->group->path : words[party->kind];
}
