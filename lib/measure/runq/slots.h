/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Owners of slots, their waits, and their ends. */
#ifndef SUBTICK_MEASURE_RUNQ_SLOTS_H
#define SUBTICK_MEASURE_RUNQ_SLOTS_H

#include "measure/runq/blame.h"
#include "measure/runq/chunks.h"
#include "measure/runq/filter.h"
#include "measure/runq/waits.h"

struct runq_owner;

struct runq_slots {
	/* Set before runq_slots_open(). */
	enum runq_per per;
	const struct runq_filter *filter; /* cgroups that the programs leave out; NULL: none */
	int index_fd;	      /* the programs' map from keys to slots */
	const __u64 *changes; /* programs count new owners and ended groups there */
	struct runq_blame_table *blame; /* NULL without blame */
	struct runq_task *tasks; /* mapped; entries of ended groups are reset */

	struct runq_chunks chunks;
	struct runq_owner *owners[RUNQ_NR_SLOTS];
	uint64_t scan_ns;
	uint64_t scan_changes; /* as of the last scan */
	bool unsettled;	       /* the next scan has work left */
	struct runq_waits_list ended; /* since the last window */
	struct runq_waits_list waits; /* of the last window */
	struct runq_group **names;    /* owners and groups of the last window, by key */
	size_t nr_names;
	uint64_t names_built; /* number of times that names was built */
	bool names_stale; /* an owner has begun or ended since */
	uint64_t *retired; /* keys that the blame table can forget */
	size_t nr_retired;
	uint64_t paths_cut; /* groups so far whose path lacks its beginning */
};

/* See runq_chunks_open(). */
int runq_slots_open(struct runq_slots *slots, void *near, size_t nr_groups, struct err *err);
void runq_slots_close(struct runq_slots *slots);
/* After names were looked up: leaves out cgroups that are now known not to be requested. */
void runq_slots_named(struct runq_slots *slots);
/* Finds new owners and frees slots of groups that ended; unless @at_once, at most every 50 ms. */
int runq_slots_scan(struct runq_slots *slots, bool at_once, struct err *err);
/* Ends the window; its rows are in @slots->waits. */
int runq_slots_window(struct runq_slots *slots, struct err *err);
/* True if the group had ended by the end of the last window, or is newer; for the blame table. */
bool runq_slots_ended(const void *slots, uint64_t key);
/* Groups of the last window stay until the next window, others until the next scan. NULL: unknown. */
const struct runq_group *runq_slots_find(const struct runq_slots *slots, uint64_t key);

#endif
