/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blame tables of the BPF programs: wait time by pair of victim and culprit. */
#ifndef SUBTICK_MEASURE_RUNQ_BLAME_H
#define SUBTICK_MEASURE_RUNQ_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/core.h"
#include "base/array.h"
#include "base/err.h"
#include "measure/runq/chunks.h"
#include "stats/runq.h"

struct runq_blame_table {
	/* The caller sets the next members before runq_blame_open(), and owns them. */
	int index_fd;		      /* map from the pair of victim and culprit to the row */
	int free_fd, new_fd;	      /* queues of freed rows and of rows that were never used */
	struct runq_row *rows;	      /* mapped array of rows; NULL without blame */
	struct runq_pair_cell *cells; /* mapped pair counters of all CPUs */
	const struct core_block *cores; /* mapped per-core data of the programs */
	unsigned int cpus;
	/* Returns true if the group with @key has ended, or appeared after the last window. */
	bool (*ended)(const void *arg, uint64_t key);
	const void *arg;

	size_t nr_rows; /* index of the first row that was never used */
	struct blocks memory;
	struct runq_charge *rows_prev, *cells_prev;
	/* for each row: true if the last wait was counted after the end of its victim or culprit */
	bool *late;
	size_t nr_late;
	struct runq_row *list; /* result of the last runq_blame_read() */
	struct runq_row *left; /* growth of freed cells since the last runq_blame_read() */
	size_t nr_left;
};

int runq_blame_open(struct runq_blame_table *table, struct err *err);
void runq_blame_close(struct runq_blame_table *table);
/*
 * Returns the growth of the counters of all pairs of victim and culprit since the last call.
 * *@ret_rows is unsorted and valid until the next call. Frees the rows of ended groups, whose keys
 * are in @retired. @chunks converts slot references to keys of groups.
 */
int runq_blame_read(struct runq_blame_table *table, const struct runq_chunks *chunks,
		    const uint64_t *retired, size_t nr_retired, struct runq_row **ret_rows,
		    size_t *ret_nr, struct err *err);
/*
 * Frees the cells whose victim or culprit is a slot for which @over returns true: the slot of an
 * ended group. The next runq_blame_read() returns the growth of the freed cells. Must be called
 * before the slots are reused for other groups.
 */
int runq_blame_leave(struct runq_blame_table *table, const struct runq_chunks *chunks,
		     bool (*over)(const void *arg, uint32_t slot_ref), const void *arg,
		     struct err *err);

#endif
