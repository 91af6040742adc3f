/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the names of the tasks of a timeline. */
#include "report/timeline.h"

#include <stdlib.h>

#include "base/array.h"

static int by_pid(const void *key, const void *entry)
{
	uint32_t pid = *(const uint32_t *)key, other = ((const struct timeline_task *)entry)->pid;

	return CMP(pid, other);
}

const char *timeline_comm(const struct timeline *timeline, uint32_t pid)
{
	const struct timeline_task *task = NULL;

	if (!pid)
		return "idle";
	if (timeline->nr_tasks)
		task = bsearch(&pid, timeline->tasks, timeline->nr_tasks, sizeof(*task), by_pid);
	return task ? task->comm : "";
}
