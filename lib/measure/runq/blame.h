/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of victims and culprits that the programs fill, as differences of windows. */
#ifndef SUBTICK_MEASURE_RUNQ_BLAME_H
#define SUBTICK_MEASURE_RUNQ_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/core.h"
#include "base/err.h"
#include "measure/runq/chunks.h"
#include "stats/runq.h"

struct runq_blame_table {
	/* Set before runq_blame_open(); they stay the caller's. */
	int index_fd;		      /* the programs' maps: rows by pair, */
	int free_fd, new_fd;	      /* those that were freed, those that were never taken */
	struct runq_row *rows;	      /* mapped; NULL: blame was not asked for */
	struct runq_pair_cell *cells; /* mapped, of all cores */
	const struct core_block *cores; /* mapped */
	unsigned int cpus;
	/* Whether a group has ended, or is not known yet. */
	bool (*ended)(const void *arg, uint64_t key);
	const void *arg;

	size_t nr_rows; /* those after it were never taken */
	struct runq_charge *rows_prev, *cells_prev;
	bool *late;	       /* rows that were charged last for a group that had ended */
	size_t nr_late;
	struct runq_row *list; /* of the last reading */
	struct runq_row *left; /* of groups that ended since then */
	size_t nr_left;
};

int runq_blame_open(struct runq_blame_table *table, struct err *err);
void runq_blame_close(struct runq_blame_table *table);
/*
 * Growth since the last call, unordered, valid until the next call. Rows with one of the @retired
 * keys, whose groups have ended, are freed; those that get such a key later, at the second call
 * after that. @chunks tells who is at a place.
 */
int runq_blame_read(struct runq_blame_table *table, const struct runq_chunks *chunks,
		    const uint64_t *retired, size_t nr_retired, struct runq_row **ret_rows,
		    size_t *ret_nr, struct err *err);
/*
 * Called before slots get new owners: frees the cells of the ended slots @over and keeps their
 * counts.
 */
int runq_blame_leave(struct runq_blame_table *table, const struct runq_chunks *chunks,
		     bool (*over)(const void *arg, uint32_t place), const void *arg,
		     struct err *err);

#endif
