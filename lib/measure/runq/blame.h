/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of victims and culprits that the programs fill, as differences of windows. */
#ifndef SUBTICK_MEASURE_RUNQ_BLAME_H
#define SUBTICK_MEASURE_RUNQ_BLAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stats/runq.h"

struct runq_blame_table {
	int fd;
	struct runq_row *rows, *rows_prev;
	size_t nr_rows_prev;
};

/* @fd is the programs' map and stays the caller's. */
int runq_blame_open(struct runq_blame_table *table, int fd, struct err *err);
void runq_blame_close(struct runq_blame_table *table);
/*
 * What was added since the last call, in no order, until the next call. Rows with one of the
 * @retired keys, whose groups have ended, are deleted from the map.
 */
int runq_blame_read(struct runq_blame_table *table, const uint64_t *retired, size_t nr_retired,
		    struct runq_row **ret_rows, size_t *ret_nr, struct err *err);

#endif
