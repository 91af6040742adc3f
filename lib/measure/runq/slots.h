/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which group owns which slot, what each has waited, and the end of groups. */
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
	const struct runq_filter *filter; /* what else the programs leave out; NULL: they do not */
	int index_fd;	      /* the programs' map from keys to slots */
	const __u64 *changes; /* the programs count there: slots that got a group, groups that ended */
	struct runq_blame_table *blame; /* NULL: not asked for */
	struct runq_task *tasks; /* mapped; their entries forget groups that ended */

	struct runq_chunks chunks;
	struct runq_owner *owners[RUNQ_NR_SLOTS];
	uint64_t scan_ns;
	uint64_t scan_changes; /* as of the last scan */
	bool unsettled;	       /* something is left for the next scan */
	struct runq_waits_list ended; /* since the last window */
	struct runq_waits_list waits; /* of the last window */
	struct runq_group **names;    /* owners and groups of the last window, by key */
	size_t nr_names;
	uint64_t names_built; /* how often */
	bool names_stale; /* an owner has come or gone since */
	uint64_t *retired; /* keys that the blame table can forget */
	size_t nr_retired;
	uint64_t paths_cut; /* groups so far whose path lacks its beginning */
};

/* See runq_chunks_open(). */
int runq_slots_open(struct runq_slots *slots, void *near, size_t nr_groups, struct err *err);
void runq_slots_close(struct runq_slots *slots);
/* Names are known now: what turns out not to be asked for is left out from here on. */
void runq_slots_named(struct runq_slots *slots);
/* Finds new owners and frees slots of groups that ended; unless @at_once, at most every 50 ms. */
int runq_slots_scan(struct runq_slots *slots, bool at_once, struct err *err);
/* Ends the window: what each group waited in it is in @slots->waits. */
int runq_slots_window(struct runq_slots *slots, struct err *err);
/* Whether the group had ended when the last window did, or has come since; for the blame table. */
bool runq_slots_ended(const void *slots, uint64_t key);
/* Groups of the last window stay until the next, others until the next scan; NULL if unknown. */
const struct runq_group *runq_slots_find(const struct runq_slots *slots, uint64_t key);

#endif
