/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel side of runq: programs, slots, events, blame, losses. */
#ifndef SUBTICK_MEASURE_RUNQ_KERNEL_H
#define SUBTICK_MEASURE_RUNQ_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/losses.h"
#include "measure/runq/opts.h"
#include "measure/runq/waits.h"

struct runq_kernel;

/*
 * @nr_groups: how many groups to make room for at once. Source and hierarchy of @opts are those to
 * use, never AUTO. @filter is that of the cgroups of @opts, and must stay.
 */
int runq_kernel_open(const struct runq_opts *opts, const struct runq_filter *filter, size_t nr_groups,
		     struct runq_kernel **ret_kernel, struct err *err);
void runq_kernel_close(struct runq_kernel *kernel);

/* Of all waits, count only this part from now on; every one until then. */
void runq_kernel_sample(struct runq_kernel *kernel, double ratio);

/* Readable when runq_kernel_events() has something to do. */
int runq_kernel_fd(const struct runq_kernel *kernel);
/* Makes room for more groups, frees slots of those that ended, hands long waits to @fn. */
int runq_kernel_events(struct runq_kernel *kernel, void (*fn)(const struct runq_event *, void *),
		       void *arg, struct err *err);
/*
 * Ends the window: what the groups waited in it, largest sum first, until the next call. Key
 * RUNQ_KEY_OTHER is that of what found no slot.
 */
int runq_kernel_window(struct runq_kernel *kernel, struct runq_waits_list **ret_list,
		       struct err *err);
/* What the window added to the blame table, unranked, until the next call. */
int runq_kernel_blame(struct runq_kernel *kernel, struct runq_row **ret_rows, size_t *ret_nr,
		      struct err *err);
/* Every group that is known, those of the last window included, until the next. */
struct runq_group *const *runq_kernel_groups(const struct runq_kernel *kernel, size_t *ret_nr);
void runq_kernel_losses(struct runq_kernel *kernel, struct runq_losses *ret_losses);
/* Looks up names, and leaves out cgroups that are now known not to be requested. */
void runq_kernel_name_groups(struct runq_kernel *kernel, const struct pods *pods);
/* Finds groups that have waited for the first time since the last event. */
int runq_kernel_find_groups(struct runq_kernel *kernel, struct err *err);
/* Who a key means. Groups of the last window stay until the next, others until the next event. */
struct runq_party runq_kernel_party(const struct runq_kernel *kernel, uint64_t key);
/* Bytes of kernel memory in maps. */
uint64_t runq_kernel_memory(const struct runq_kernel *kernel);

#endif
