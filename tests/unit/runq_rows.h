/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills rows of blame as the BPF programs do, and reads them as user space does. */
#ifndef SUBTICK_TESTS_UNIT_RUNQ_ROWS_H
#define SUBTICK_TESTS_UNIT_RUNQ_ROWS_H

#include "measure/runq/blame.h"
#include "test.h"

#define ROWS_CPUS     2
#define ROWS_INDEX_FD 1004
#define ROWS_FREE_FD  1005
#define ROWS_NEW_FD   1006

static struct runq_row rows_memory[RUNQ_NR_BLAME];
static struct runq_pair_cell rows_cells[ROWS_CPUS * RUNQ_NR_PAIRS];
static struct core_block rows_cores[ROWS_CPUS];
static uint32_t rows_free[RUNQ_NR_BLAME];
static size_t rows_nr_free, rows_pairs; /* free blame rows, and pairs of victim and culprit */
static uint32_t rows_new; /* number of the last row that was put into the queue of new blame rows */
static struct runq_blame_table rows_table;

/*
 * Simulates an update of the map of free blame rows or of new blame rows. Returns false if @fd is
 * neither of the two maps.
 */
static inline bool rows_update(int fd, const void *value)
{
	if (fd == ROWS_FREE_FD)
		rows_free[rows_nr_free++] = *(const uint32_t *)value;
	else if (fd == ROWS_NEW_FD)
		assert_int_equal(*(const uint32_t *)value, ++rows_new);
	return fd == ROWS_FREE_FD || fd == ROWS_NEW_FD;
}

/* Returns a free blame row. If no row is free, returns a new row, taken by alternating cores. */
static inline uint32_t rows_take(void)
{
	struct runq_cpu *core = &rows_cores[(rows_new + 1) % ROWS_CPUS].runq;

	if (rows_nr_free)
		return rows_free[--rows_nr_free];
	core->rows = ++rows_new + 1;
	return rows_new;
}

static inline struct runq_row *rows_find_pair(const struct runq_pair *pair)
{
	for (size_t i = 1; i < RUNQ_NR_BLAME; i++)
		if (!memcmp(&rows_memory[i].pair, pair, sizeof(*pair)))
			return &rows_memory[i];
	return NULL;
}

static inline bool rows_delete(int fd, const void *key)
{
	if (fd != ROWS_INDEX_FD)
		return false;
	assert_non_null(rows_find_pair(key));
	rows_pairs--;
	return true;
}

static inline void rows_charge(uint64_t victim, uint64_t culprit, uint64_t ns)
{
	struct runq_pair pair = {victim, culprit};

	if (!rows_find_pair(&pair)) {
		rows_memory[rows_take()].pair = pair;
		rows_pairs++;
	}
	rows_find_pair(&pair)->charge.wait_ns += ns;
	rows_find_pair(&pair)->charge.count++;
}

static inline bool rows_none_ended(const void *arg, uint64_t key)
{
	return false;
}

static inline void rows_begin(void)
{
	struct err err = {0};

	memset(rows_cells, 0, sizeof(rows_cells));
	memset(rows_memory, 0, sizeof(rows_memory));
	memset(rows_cores, 0, sizeof(rows_cores));
	rows_nr_free = rows_pairs = rows_new = 0;
	rows_table = (struct runq_blame_table){.index_fd = ROWS_INDEX_FD,
					       .free_fd = ROWS_FREE_FD,
					       .new_fd = ROWS_NEW_FD,
					       .rows = rows_memory,
					       .cells = rows_cells,
					       .cores = rows_cores,
					       .cpus = ROWS_CPUS,
					       .ended = rows_none_ended};
	assert_int_equal(runq_blame_open(&rows_table, &err), 0);
	/* Row 0 counts the waits of all pairs of victim and culprit that have no row. */
	assert_int_equal(rows_new, ROWS_CPUS);
	assert_int_equal(rows_nr_free, 0);
	rows_new = 0;
}

static inline size_t rows_read(const struct runq_chunks *chunks, const uint64_t *retired,
			       size_t nr_retired, struct runq_row **ret_list)
{
	struct err err = {0};
	size_t nr;

	assert_int_equal(
		runq_blame_read(&rows_table, chunks, retired, nr_retired, ret_list, &nr, &err), 0);
	return nr;
}

static inline uint64_t rows_blamed(const struct runq_row *list, size_t nr, uint64_t victim,
				   uint64_t culprit)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < nr; i++)
		if (list[i].pair.victim == victim && list[i].pair.culprit == culprit)
			ns += list[i].charge.wait_ns;
	return ns;
}

#endif
