/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel side of runq: programs, slots that grow with the groups, events, blame. */
#ifndef SUBTICK_MEASURE_RUNQ_KERNEL_H
#define SUBTICK_MEASURE_RUNQ_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/runq.h"
#include "measure/runq/losses.h"
#include "stats/runq_pack.h"

struct runq_kernel;

/* One group in one window. */
struct runq_group {
	uint64_t key;
	uint64_t cgroup_id;
	uint32_t pid;
	uint32_t tgid;
	bool ended; /* its cgroup or task was gone by the end of the window */
	char comm[16];
	char *path; /* of the cgroup; of its task's for a task */
	uint64_t sum_ns;
	struct runq_packed *waits;
};

/*
 * @nr_groups: how many there are about now, so that the first moments find room. Whatever is in
 * @opts is taken as it is; AUTO is the caller's to resolve.
 */
int runq_kernel_open(const struct runq_opts *opts, bool cgroup_v2, size_t nr_groups,
		     struct runq_kernel **ret_kernel, struct err *err);
void runq_kernel_close(struct runq_kernel *kernel);

/* Readable when runq_kernel_events() has something to do. */
int runq_kernel_fd(const struct runq_kernel *kernel);
/* Lays in slots, retires those that ended, hands long waits to @fn. */
int runq_kernel_events(struct runq_kernel *kernel, void (*fn)(const struct runq_event *, void *),
		       void *arg, struct err *err);
/*
 * Ends the window: the groups that waited in it, largest sum first, until the next call; the
 * first is always that of what found no slot (key RUNQ_KEY_OTHER).
 */
int runq_kernel_window(struct runq_kernel *kernel, struct runq_group ***ret_groups, size_t *ret_nr,
		       struct err *err);
/* What the window added to the blame table, unranked, until the next call. */
int runq_kernel_blame(struct runq_kernel *kernel, struct runq_row **ret_rows, size_t *ret_nr,
		      struct err *err);
void runq_kernel_losses(struct runq_kernel *kernel, struct runq_losses *ret_losses);
/* A group that was seen in this window, without its figures; NULL if unknown. */
const struct runq_group *runq_kernel_find(const struct runq_kernel *kernel, uint64_t key);
/* Bytes of kernel memory in maps. */
uint64_t runq_kernel_memory(const struct runq_kernel *kernel);

#endif
