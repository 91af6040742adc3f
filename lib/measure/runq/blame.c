/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the tables of blame and forgets groups that have ended. */
#include "measure/runq/blame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/grow.h"
#include "sys/bpf.h"

int runq_blame_open(struct runq_blame_table *table, int fd, struct runq_pair_cell *cells,
		    unsigned int cpus, struct err *err)
{
	/* For what finds no room of its own: the programs make no other row once the map is full. */
	struct runq_pair other = {RUNQ_KEY_OTHER, RUNQ_KEY_OTHER};
	struct runq_charge none = {0};

	table->fd = fd;
	if (bpf_map_update_elem(fd, &other, &none, BPF_ANY))
		return sys_bpf_fail(err, -errno, "cannot prepare the blame table");
	table->cells = cells;
	table->nr_cells = (size_t)cpus * RUNQ_NR_PAIRS;
	table->cells_prev = calloc(table->nr_cells, sizeof(*table->cells_prev));
	table->rows = calloc(1, sizeof(*table->rows));
	table->rows_prev = calloc(RUNQ_NR_BLAME, sizeof(*table->rows_prev));
	/* Not cleared: memory is taken for as many rows as there are. */
	table->rows_now = reallocarray(NULL, RUNQ_NR_BLAME, sizeof(*table->rows_now));
	table->keys = reallocarray(NULL, RUNQ_NR_BLAME, sizeof(*table->keys));
	table->charges = reallocarray(NULL, RUNQ_NR_BLAME, sizeof(*table->charges));
	if (table->rows && table->rows_prev && table->cells_prev && table->rows_now &&
	    table->keys && table->charges)
		return 0;
	return err_set(err, -ENOMEM, "out of memory");
}

void runq_blame_close(struct runq_blame_table *table)
{
	free(table->rows);
	free(table->rows_prev);
	free(table->rows_now);
	free(table->keys);
	free(table->charges);
	free(table->cells_prev);
	free(table->left);
}

/* What a cell has counted since the last call for it; false if nothing. */
static bool cell_advance(struct runq_blame_table *table, size_t i, const struct runq_chunks *chunks,
			 uint64_t pair, struct runq_row *ret_row)
{
	const volatile struct runq_pair_cell *cell = &table->cells[i];
	struct runq_charge *prev = &table->cells_prev[i];
	struct runq_charge now = {.wait_ns = cell->wait_ns, .count = cell->count};

	if (now.count == prev->count)
		return false;
	*ret_row = (struct runq_row){
		.pair = {.victim = runq_chunks_key(chunks, RUNQ_PAIR_VICTIM(pair)),
			 .culprit = runq_chunks_key(chunks, RUNQ_PAIR_WHO(pair))},
		.charge = {.wait_ns = now.wait_ns - prev->wait_ns,
			   .count = now.count - prev->count},
	};
	*prev = now;
	return true;
}

int runq_blame_leave(struct runq_blame_table *table, const struct runq_chunks *chunks,
		     bool (*over)(const void *arg, uint32_t place), const void *arg,
		     struct err *err)
{
	for (size_t i = 0; i < table->nr_cells; i++) {
		uint64_t pair = __atomic_load_n(&table->cells[i].pair, __ATOMIC_RELAXED);
		struct runq_row *left;

		if (!pair || !(over(arg, RUNQ_PAIR_VICTIM(pair)) || over(arg, RUNQ_PAIR_WHO(pair))))
			continue;
		left = grow(table->left, table->nr_left, sizeof(*left));
		if (!left)
			return err_set(err, -ENOMEM, "out of memory");
		table->left = left;
		table->nr_left += cell_advance(table, i, chunks, pair, &left[table->nr_left]);
		/* Its counters go on from where they are, for whoever takes it. */
		__atomic_store_n(&table->cells[i].pair, 0, __ATOMIC_RELEASE);
	}
	return 0;
}

/*
 * The whole map, as rows_now. In few system calls: with a thousand pairs, two calls for each were most
 * of what a window cost.
 */
static int read_map(struct runq_blame_table *table, size_t *ret_nr, struct err *err)
{
	__u32 from = 0, to = 0;
	size_t nr = 0;
	int rc = 0;

	while (!rc && nr < RUNQ_NR_BLAME) {
		__u32 count = RUNQ_NR_BLAME - nr;

		rc = bpf_map_lookup_batch(table->fd, nr ? &from : NULL, &to, table->keys + nr,
					  table->charges + nr, &count, NULL) ?
			     -errno :
			     0;
		/*
		 * No more rows, or no room for those of the next bucket: rows were written as well.
		 * Any other error is not an empty table.
		 */
		if (rc && rc != -ENOENT && rc != -ENOSPC)
			return sys_bpf_fail(err, rc, "cannot read the blame table");
		nr += count;
		from = to;
	}
	for (size_t i = 0; i < nr; i++)
		table->rows_now[i] = (struct runq_row){.pair = table->keys[i],
						       .charge = table->charges[i]};
	*ret_nr = nr;
	return 0;
}

static bool has_key(const uint64_t *keys, size_t nr, uint64_t key)
{
	for (size_t i = 0; i < nr; i++)
		if (keys[i] == key)
			return true;
	return false;
}

int runq_blame_read(struct runq_blame_table *table, const struct runq_chunks *chunks,
		    const uint64_t *retired, size_t nr_retired, struct runq_row **ret_rows,
		    size_t *ret_nr, struct err *err)
{
	struct runq_row *now = table->rows_now, *rows;
	size_t nr = 0, nr_kept = 0, nr_new;
	int rc;

	rows = reallocarray(table->rows, RUNQ_NR_BLAME + table->nr_cells + table->nr_left,
			    sizeof(*rows));
	if (!rows)
		return err_set(err, -ENOMEM, "out of memory");
	table->rows = rows;
	rc = read_map(table, &nr, err);
	if (rc)
		return rc;
	nr_new = runq_rows_grown(now, nr, table->rows_prev, table->nr_rows_prev, rows);
	for (size_t i = 0; i < table->nr_cells; i++) {
		uint64_t pair = __atomic_load_n(&table->cells[i].pair, __ATOMIC_RELAXED);

		nr_new += pair && cell_advance(table, i, chunks, pair, &rows[nr_new]);
	}
	for (size_t i = 0; i < table->nr_left; i++)
		rows[nr_new++] = table->left[i];
	table->nr_left = 0;
	*ret_nr = runq_rows_merge(rows, nr_new);
	*ret_rows = rows;
	/* A group that ended adds nothing more; without this the map would fill up with them. */
	for (size_t i = 0; i < nr; i++) {
		if (has_key(retired, nr_retired, now[i].pair.victim) ||
		    has_key(retired, nr_retired, now[i].pair.culprit))
			bpf_map_delete_elem(table->fd, &now[i].pair);
		else
			table->rows_prev[nr_kept++] = now[i];
	}
	table->nr_rows_prev = nr_kept;
	return 0;
}
