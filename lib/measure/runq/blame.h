/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of victims and culprits that the programs fill, as differences of windows. */
#ifndef SUBTICK_MEASURE_RUNQ_BLAME_H
#define SUBTICK_MEASURE_RUNQ_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/chunks.h"
#include "stats/runq.h"

struct runq_blame_table {
	int fd;
	struct runq_row *rows, *rows_prev;
	struct runq_row *rows_now; /* the map as it is; only while it is read */
	struct runq_pair *keys;	   /* and what the kernel writes of it */
	struct runq_charge *charges;
	size_t nr_rows_prev;
	struct runq_pair_cell *cells; /* mapped, of all cores */
	struct runq_charge *cells_prev;
	size_t nr_cells;
	struct runq_row *left; /* of groups that ended since the last reading */
	size_t nr_left;
};

/* @fd is the programs' map, @cells the tables of @cpus cores; both stay the caller's. */
int runq_blame_open(struct runq_blame_table *table, int fd, struct runq_pair_cell *cells,
		    unsigned int cpus, struct err *err);
void runq_blame_close(struct runq_blame_table *table);
/*
 * What was added since the last call, in no order, until the next call. Rows with one of the
 * @retired keys, whose groups have ended, are deleted from the map. @chunks tells who is at a place.
 */
int runq_blame_read(struct runq_blame_table *table, const struct runq_chunks *chunks,
		    const uint64_t *retired, size_t nr_retired, struct runq_row **ret_rows,
		    size_t *ret_nr, struct err *err);
/* Before slots change hands: frees the cells of those that are @over, and keeps what they have. */
int runq_blame_leave(struct runq_blame_table *table, const struct runq_chunks *chunks,
		     bool (*over)(const void *arg, uint32_t place), const void *arg,
		     struct err *err);

#endif
