/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the table of blame and forgets groups that have ended. */
#include "measure/runq/blame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "sys/bpf.h"

int runq_blame_open(struct runq_blame_table *table, int fd, struct err *err)
{
	/* For what finds no room of its own: the programs make no other row once the map is full. */
	struct runq_pair other = {RUNQ_KEY_OTHER, RUNQ_KEY_OTHER};
	struct runq_charge none = {0};

	table->fd = fd;
	if (bpf_map_update_elem(fd, &other, &none, BPF_ANY))
		return sys_bpf_fail(err, -errno, "cannot prepare the blame table");
	table->rows = calloc(RUNQ_NR_BLAME, sizeof(*table->rows));
	table->rows_prev = calloc(RUNQ_NR_BLAME, sizeof(*table->rows_prev));
	return table->rows && table->rows_prev ? 0 : err_set(err, -ENOMEM, "out of memory");
}

void runq_blame_close(struct runq_blame_table *table)
{
	free(table->rows);
	free(table->rows_prev);
}

static size_t read_map(int fd, struct runq_row *rows)
{
	struct runq_pair *prev = NULL, pair;
	size_t nr = 0;

	while (nr < RUNQ_NR_BLAME && !bpf_map_get_next_key(fd, prev, &pair)) {
		rows[nr].pair = pair;
		if (!bpf_map_lookup_elem(fd, &pair, &rows[nr].charge))
			nr++;
		/* A look-up that failed left the row before it as the last one. */
		if (!nr)
			break;
		prev = &rows[nr - 1].pair;
	}
	return nr;
}

static bool has_key(const uint64_t *keys, size_t nr, uint64_t key)
{
	for (size_t i = 0; i < nr; i++)
		if (keys[i] == key)
			return true;
	return false;
}

int runq_blame_read(struct runq_blame_table *table, const uint64_t *retired, size_t nr_retired,
		    struct runq_row **ret_rows, size_t *ret_nr, struct err *err)
{
	struct runq_row *now = calloc(RUNQ_NR_BLAME, sizeof(*now));
	size_t nr, nr_kept = 0;

	if (!now)
		return err_set(err, -ENOMEM, "out of memory");
	nr = read_map(table->fd, now);
	runq_rows_sort(now, nr);
	memcpy(table->rows, now, nr * sizeof(*now));
	*ret_nr = runq_rows_sub(table->rows, nr, table->rows_prev, table->nr_rows_prev);
	*ret_rows = table->rows;
	/* A group that ended adds nothing more; without this the map would fill up with them. */
	for (size_t i = 0; i < nr; i++) {
		if (has_key(retired, nr_retired, now[i].pair.victim) ||
		    has_key(retired, nr_retired, now[i].pair.culprit))
			bpf_map_delete_elem(table->fd, &now[i].pair);
		else
			table->rows_prev[nr_kept++] = now[i];
	}
	table->nr_rows_prev = nr_kept;
	free(now);
	return 0;
}
