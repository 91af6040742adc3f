/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BPF programs of runq, with the slots, events, blame tables and loss counters of the programs. */
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
 * Loads and attaches the BPF programs with slots for @nr_groups groups. The source and the cgroup
 * hierarchy in @opts must not be AUTO. @filter must outlive the result.
 */
int runq_kernel_open(const struct runq_opts *opts, const struct runq_filter *filter, size_t nr_groups,
		     struct runq_kernel **ret_kernel, struct err *err);
void runq_kernel_close(struct runq_kernel *kernel);

/* Sets the share of waits that is counted after this call. */
void runq_kernel_sample(struct runq_kernel *kernel, double ratio);

/* Returns a descriptor that becomes readable when runq_kernel_events() should be called. */
int runq_kernel_fd(const struct runq_kernel *kernel);
/*
 * Handles the events of the BPF programs: allocates slots for new groups and frees slots of ended
 * groups. *@ret_waits contains the long waits and is valid until the next call.
 */
int runq_kernel_events(struct runq_kernel *kernel, const struct runq_event **ret_waits,
		       size_t *ret_nr, struct err *err);
/*
 * Ends the window. *@ret_list contains the waits of each group, largest sum first, and is valid
 * until the next call. All groups without a slot share one row.
 */
int runq_kernel_window(struct runq_kernel *kernel, struct runq_waits_list **ret_list,
		       struct err *err);
/*
 * Returns the growth of all rows of the blame table in the window, unsorted. *@ret_rows is valid
 * until the next call.
 */
int runq_kernel_blame(struct runq_kernel *kernel, struct runq_row **ret_rows, size_t *ret_nr,
		      struct err *err);
/* Returns all known groups and the groups of the last window, valid until the next window. */
struct runq_group *const *runq_kernel_groups(const struct runq_kernel *kernel, size_t *ret_nr);
void runq_kernel_losses(struct runq_kernel *kernel, struct runq_losses *ret_losses);
/* Looks up the names of groups, and excludes cgroups whose new names do not pass the filter. */
void runq_kernel_name_groups(struct runq_kernel *kernel, const struct pods *pods);
/* Searches for new groups immediately, without waiting for the next event. */
int runq_kernel_find_groups(struct runq_kernel *kernel, struct err *err);
/*
 * Returns the victim or culprit with @key. The pointer is valid until the next window if the group
 * is in the last window, else until the next event.
 */
struct runq_party runq_kernel_party(const struct runq_kernel *kernel, uint64_t key);
/*
 * Returns the reason why runq's program on sched_switch does not replace load_switch of the load
 * source, or NULL.
 */
const struct err *runq_kernel_separate(const struct runq_kernel *kernel);
/*
 * True if the exporter should compare the sum of waits with the kernel's run_delay again. The
 * interval between two comparisons doubles up to 10 s, because with thousands of tasks a comparison
 * costs more CPU time than all other work for a window. All times are CLOCK_MONOTONIC; @compared_ns
 * is 0 before the first comparison.
 */
bool runq_compare_due(uint64_t open_ns, uint64_t compared_ns, uint64_t now_ns);
/* Returns the kernel memory of all maps in bytes. */
uint64_t runq_kernel_memory(const struct runq_kernel *kernel);

#endif
