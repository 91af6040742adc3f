/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel side of runq: programs, slots, events, blame, losses. */
#ifndef SUBTICK_MEASURE_RUNQ_KERNEL_H
#define SUBTICK_MEASURE_RUNQ_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/opts.h"
#include "measure/runq/waits.h"

struct pods;
struct runq_kernel;
struct runq_losses;

/*
 * Allocates @nr_groups groups at the start. Source and hierarchy of @opts are never AUTO. @filter
 * has the cgroups of @opts and must outlive the result.
 */
int runq_kernel_open(const struct runq_opts *opts, const struct runq_filter *filter, size_t nr_groups,
		     struct runq_kernel **ret_kernel, struct err *err);
void runq_kernel_close(struct runq_kernel *kernel);

/* Counts only this part of the waits from now on. */
void runq_kernel_sample(struct runq_kernel *kernel, double ratio);

/* Readable when runq_kernel_events() has something to do. */
int runq_kernel_fd(const struct runq_kernel *kernel);
/* Allocates slots for new groups, frees slots of ended ones, passes long waits to @fn. */
int runq_kernel_events(struct runq_kernel *kernel, void (*fn)(const struct runq_event *, void *),
		       void *arg, struct err *err);
/*
 * Ends the window. The list has the waits of each group, largest sum first, and is valid until the
 * next call. RUNQ_KEY_OTHER is the key of groups without a slot.
 */
int runq_kernel_window(struct runq_kernel *kernel, struct runq_waits_list **ret_list,
		       struct err *err);
/* Growth of the blame table in the window, unranked, valid until the next call. */
int runq_kernel_blame(struct runq_kernel *kernel, struct runq_row **ret_rows, size_t *ret_nr,
		      struct err *err);
/* All known groups and the groups of the last window, valid until the next window. */
struct runq_group *const *runq_kernel_groups(const struct runq_kernel *kernel, size_t *ret_nr);
void runq_kernel_losses(struct runq_kernel *kernel, struct runq_losses *ret_losses);
/* Looks up names, and excludes cgroups whose new names do not pass the filter. */
void runq_kernel_name_groups(struct runq_kernel *kernel, const struct pods *pods);
/* Finds groups that have waited for the first time since the last event. */
int runq_kernel_find_groups(struct runq_kernel *kernel, struct err *err);
/* Party with @key. Groups of the last window stay until the next, others until the next event. */
struct runq_party runq_kernel_party(const struct runq_kernel *kernel, uint64_t key);
/* Why the switch program does not count for load as well, if it was to; else NULL. */
const struct err *runq_kernel_separate(const struct runq_kernel *kernel);
/* Bytes of kernel memory in maps. */
uint64_t runq_kernel_memory(const struct runq_kernel *kernel);

#endif
