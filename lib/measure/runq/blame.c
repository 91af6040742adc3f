/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the blame tables of the BPF programs and frees blame rows of ended groups. */
#include "measure/runq/blame.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "host/bpf.h"

static size_t nr_cells(const struct runq_blame_table *table)
{
	return (size_t)table->cpus * RUNQ_NR_PAIRS;
}

static int row_push(int fd, uint32_t row, struct err *err)
{
	if (bpf_map_update_elem(fd, NULL, &row, BPF_ANY))
		return sys_bpf_fail(err, -errno, "cannot free a row of the blame table");
	return 0;
}

int runq_blame_open(struct runq_blame_table *table, struct err *err)
{
	int rc = 0;

	/* row 0 counts the waits of all pairs of victim and culprit without their own row */
	table->rows[0].pair = (struct runq_pair){RUNQ_KEY_OTHER, RUNQ_KEY_OTHER};
	table->nr_rows = 1;
	for (uint32_t row = 1; !rc && row <= table->cpus; row++)
		rc = row_push(table->new_fd, row, err);
	if (rc)
		return rc;
	table->rows_prev = blocks_calloc(&table->memory, RUNQ_NR_BLAME, sizeof(*table->rows_prev));
	table->cells_prev =
		blocks_calloc(&table->memory, nr_cells(table), sizeof(*table->cells_prev));
	table->late = blocks_calloc(&table->memory, RUNQ_NR_BLAME, sizeof(*table->late));
	return table->memory.failed ? err_set(err, -ENOMEM, "out of memory") : 0;
}

void runq_blame_close(struct runq_blame_table *table)
{
	blocks_free(&table->memory);
	free(table->list);
	free(table->left);
}

/* Gets the growth of a blame counter since @was. Returns false if the counter did not grow. */
static bool charge_grows(struct runq_charge now, struct runq_charge *was,
			 struct runq_charge *ret_more)
{
	if (now.count == was->count)
		return false;
	*ret_more = (struct runq_charge){.wait_ns = now.wait_ns - was->wait_ns,
					 .count = now.count - was->count};
	*was = now;
	return true;
}

/*
 * Computes the growth of cell @i since its last read. A cell has the blame counters of one pair on
 * one CPU. Returns false if the counters did not grow.
 */
static bool cell_advance(struct runq_blame_table *table, size_t i, const struct runq_chunks *chunks,
			 uint64_t pair, struct runq_row *ret_row)
{
	const volatile struct runq_pair_cell *cell = &table->cells[i];
	struct runq_charge now = {.wait_ns = cell->wait_ns, .count = cell->count};

	if (!charge_grows(now, &table->cells_prev[i], &ret_row->charge))
		return false;
	ret_row->pair = (struct runq_pair){
		.victim = runq_chunks_key(chunks, RUNQ_PAIR_VICTIM(pair)),
		.culprit = runq_chunks_key(chunks, RUNQ_PAIR_WHO(pair)),
	};
	return true;
}

int runq_blame_leave(struct runq_blame_table *table, const struct runq_chunks *chunks,
		     bool (*over)(const void *arg, uint32_t slot_ref), const void *arg,
		     struct err *err)
{
	for (size_t i = 0; i < nr_cells(table); i++) {
		uint64_t pair = __atomic_load_n(&table->cells[i].pair, __ATOMIC_RELAXED);
		struct runq_row row;

		if (!pair || !(over(arg, RUNQ_PAIR_VICTIM(pair)) || over(arg, RUNQ_PAIR_WHO(pair))))
			continue;
		if (cell_advance(table, i, chunks, pair, &row) &&
		    array_push(table->left, table->nr_left, row))
			return err_set(err, -ENOMEM, "out of memory");
		/* the counters of a cell are not reset when another pair gets the cell */
		__atomic_store_n(&table->cells[i].pair, 0, __ATOMIC_RELEASE);
	}
	return 0;
}

static void rows_find(struct runq_blame_table *table)
{
	array_for_each(core, table->cores, table->cpus) {
		uint64_t rows = __atomic_load_n(&core->runq.rows, __ATOMIC_RELAXED);

		if (rows > table->nr_rows)
			table->nr_rows = rows;
	}
}

/* Gets the growth of blame row @i since the last read. Returns false if the row did not grow. */
static bool row_advance(struct runq_blame_table *table, size_t i, struct runq_row *ret_row)
{
	const volatile struct runq_row *row = &table->rows[i];

	ret_row->pair = (struct runq_pair){row->pair.victim, row->pair.culprit};
	/*
	 * The stores of the BPF programs are unordered, so the counters of a new row may be visible
	 * before its pair of keys.
	 */
	if (!ret_row->pair.victim || !ret_row->pair.culprit)
		return false;
	return charge_grows((struct runq_charge){row->charge.wait_ns, row->charge.count},
			    &table->rows_prev[i], &ret_row->charge);
}

static bool has_key(const uint64_t *keys, size_t nr, uint64_t key)
{
	array_for_each(at, keys, nr)
		if (*at == key)
			return true;
	return false;
}

static bool key_ended(const struct runq_blame_table *table, uint64_t key)
{
	return key < RUNQ_KEY_EXCLUDED && table->ended(table->arg, key);
}

static void late_set(struct runq_blame_table *table, size_t i, bool late)
{
	table->nr_late += late;
	table->nr_late -= table->late[i];
	table->late[i] = late;
}

/* Marks a blame row whose counters grew after its victim or its culprit had ended. */
static void row_mark_late(struct runq_blame_table *table, size_t i)
{
	const struct runq_pair *pair = &table->rows[i].pair;

	late_set(table, i, key_ended(table, pair->victim) || key_ended(table, pair->culprit));
}

/*
 * True if a blame row can be freed: its victim or its culprit is in @retired, or has ended and the
 * counters did not grow between two reads. A row can appear after the end of a group, because a CPU
 * may still be counting a wait of the group.
 */
static bool row_can_free(struct runq_blame_table *table, size_t i, const uint64_t *retired,
			 size_t nr_retired)
{
	const struct runq_row *row = &table->rows[i];

	if (has_key(retired, nr_retired, row->pair.victim) ||
	    has_key(retired, nr_retired, row->pair.culprit))
		return true;
	if (!table->late[i] || row->charge.count != table->rows_prev[i].count)
		return false;
	row_mark_late(table, i);
	return table->late[i];
}

/* Reads blame row @i, and frees the row if @over is true. */
static int row_read(struct runq_blame_table *table, size_t i, bool over, size_t *nr_list,
		    struct err *err)
{
	struct runq_row *row = &table->rows[i];

	/* Keep a row without a map entry, because a BPF program is about to insert the entry. */
	over = over && !bpf_map_delete_elem(table->index_fd, &row->pair);
	if (row_advance(table, i, &table->list[*nr_list])) {
		row_mark_late(table, i);
		++*nr_list;
	}
	if (!over)
		return 0;
	late_set(table, i, false);
	row->pair = (struct runq_pair){0};
	return row_push(table->free_fd, i, err);
}

/* Reads the blame rows whose counts changed, or all rows if rows may be freed. */
static int rows_read(struct runq_blame_table *table, const uint64_t *retired, size_t nr_retired,
		     size_t *nr_list, struct err *err)
{
	bool some = nr_retired || table->nr_late;
	int rc = 0;

	for (size_t i = 0; !rc && i < table->nr_rows; i++) {
		const volatile struct runq_row *row = &table->rows[i];

		if (some || row->charge.count != table->rows_prev[i].count)
			rc = row_read(table, i, some && row_can_free(table, i, retired, nr_retired),
				      nr_list, err);
	}
	return rc;
}

int runq_blame_read(struct runq_blame_table *table, const struct runq_chunks *chunks,
		    const uint64_t *retired, size_t nr_retired, struct runq_row **ret_rows,
		    size_t *ret_nr, struct err *err)
{
	struct runq_row *list;
	size_t nr = 0;
	int rc;

	rows_find(table);
	list = reallocarray(table->list, table->nr_rows + nr_cells(table) + table->nr_left,
			    sizeof(*list));
	if (!list)
		return err_set(err, -ENOMEM, "out of memory");
	table->list = list;
	rc = rows_read(table, retired, nr_retired, &nr, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < nr_cells(table); i++) {
		uint64_t pair = __atomic_load_n(&table->cells[i].pair, __ATOMIC_RELAXED);

		nr += pair && cell_advance(table, i, chunks, pair, &list[nr]);
	}
	array_for_each(row, table->left, table->nr_left)
		list[nr++] = *row;
	table->nr_left = 0;
	*ret_nr = runq_rows_merge(list, nr);
	*ret_rows = list;
	return 0;
}
