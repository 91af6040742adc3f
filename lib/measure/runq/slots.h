/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slots: memory of the runq programs. Each slot has the counters of one group, its owner. */
#ifndef SUBTICK_MEASURE_RUNQ_SLOTS_H
#define SUBTICK_MEASURE_RUNQ_SLOTS_H

#include "measure/runq/blame.h"
#include "measure/runq/chunks.h"
#include "measure/runq/filter.h"
#include "measure/runq/waits.h"

struct runq_owner;

struct runq_slots {
	/* The caller sets the next members before runq_slots_open(). */
	enum runq_per per;
	const struct runq_filter *filter; /* filter that the BPF programs apply, or NULL */
	int index_fd;	      /* BPF map from group keys to slots */
	/* counter of new and ended groups, which the BPF programs increment */
	const __u64 *changes;
	struct runq_blame_table *blame; /* blame table, or NULL if blame is not measured */
	struct runq_task *tasks; /* task table of the BPF programs, mapped */

	struct runq_chunks chunks;
	struct runq_owner *owners[RUNQ_NR_SLOTS];
	uint64_t scan_ns;
	uint64_t scan_changes; /* value of the counter *changes at the last scan */
	bool rescan;	       /* true if the next scan must read all slots */
	struct runq_waits_list ended; /* waits of groups that ended since the last window */
	struct runq_waits_list waits; /* waits of the last window */
	/* groups with a slot and groups of the last window, sorted by key */
	struct runq_group **names;
	size_t nr_names;
	uint64_t names_built; /* number of times that the list `names` was rebuilt */
	bool names_stale;     /* true if a group appeared or ended since `names` was rebuilt */
	uint64_t *retired; /* keys of ended groups, for the blame table */
	size_t nr_retired;
	uint64_t paths_cut; /* number of groups with a truncated path */
};

int runq_slots_open(struct runq_slots *slots, void *first_chunk, size_t nr_groups, struct err *err);
void runq_slots_close(struct runq_slots *slots);
/* Makes the programs ignore cgroups whose new names do not pass the filter. */
void runq_slots_named(struct runq_slots *slots);
/*
 * Scans the slots: finds new groups and frees slots of ended groups. If @at_once is false, does
 * nothing if the last scan was less than 50 ms ago.
 */
int runq_slots_scan(struct runq_slots *slots, bool at_once, struct err *err);
/* Ends the window and fills slots->waits. */
int runq_slots_window(struct runq_slots *slots, struct err *err);
/*
 * Callback runq_blame_table.ended. Returns true if the group with @key had ended by the end of the
 * last window, or appeared after the last window.
 */
bool runq_slots_ended(const void *slots, uint64_t key);
/*
 * Returns the group with @key, or NULL. The pointer is valid until the next window if the group is
 * in the last window, else until the next scan.
 */
const struct runq_group *runq_slots_find(const struct runq_slots *slots, uint64_t key);

#endif
