/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests blame rows: a window has exactly the blame that was added in it, in any order of creating
 * and reading rows.
 */
#include "measure/runq/blame.h"

#include <bpf/bpf.h>

#include "runq_rows.h"
#include "test.h"

static const struct runq_chunks no_chunks;
static bool not_in_index;

/* Test double that updates the simulated BPF maps; see meson.build. */
int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_true(rows_update(fd, value));
	return 0;
}

int __wrap_bpf_map_delete_elem(int fd, const void *key)
{
	if (not_in_index)
		return -ENOENT;
	assert_true(rows_delete(fd, key));
	return 0;
}

TEST(test_blame)
{
	const uint64_t retired[] = {7};
	struct runq_row *list;
	size_t nr;

	rows_begin();
	rows_charge(5, 6, 100);
	rows_charge(7, 5, 10);
	rows_charge(5, 7, 20);
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 3);
	assert_int_equal(rows_blamed(list, 3, 5, 6), 100);
	rows_charge(5, 6, 50);
	rows_charge(7, 5, 1);
	nr = rows_read(&no_chunks, retired, 1, &list);
	/* Group 7 has ended, but its last wait is still reported. */
	assert_int_equal(nr, 2);
	assert_int_equal(rows_blamed(list, nr, 7, 5), 1);
	assert_int_equal(rows_blamed(list, nr, 5, 6), 50);
	assert_int_equal(rows_pairs, 1);
	assert_int_equal(rows_nr_free, 2);
	/* A reused row has only the waits of its new pair. */
	rows_charge(8, 5, 3);
	rows_charge(8, 6, 4);
	rows_charge(8, 5, 3);
	nr = rows_read(&no_chunks, NULL, 0, &list);
	assert_int_equal(nr, 2);
	assert_int_equal(rows_blamed(list, nr, 8, 5), 6);
	assert_int_equal(rows_blamed(list, nr, 8, 6), 4);
	/* If no row is free, the BPF programs charge waits to row 0 of the blame table. */
	rows_memory[0].charge.wait_ns += 9;
	rows_memory[0].charge.count++;
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 1);
	assert_int_equal(rows_blamed(list, 1, RUNQ_KEY_OTHER, RUNQ_KEY_OTHER), 9);
	runq_blame_close(&rows_table);
}

/*
 * A blame row that a core has reserved but not written does not hide later rows. After the core has
 * written the row, the reader returns it.
 */
TEST(test_blame_unwritten)
{
	uint32_t taken[ROWS_CPUS];
	struct runq_row *list;

	rows_begin();
	for (int i = 0; i < ROWS_CPUS; i++)
		taken[i] = rows_take();
	rows_charge(5, 6, 100);
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 1);
	/* The reader may see the counters of a new row before or after the row's key. */
	rows_memory[taken[0]].charge = (struct runq_charge){40, 1};
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 0);
	rows_memory[taken[0]].pair.victim = 7;
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 0);
	rows_memory[taken[0]].pair.culprit = 6;
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 1);
	assert_int_equal(rows_blamed(list, 1, 7, 6), 40);
	runq_blame_close(&rows_table);
}

static bool seven_ended(const void *arg, uint64_t key)
{
	return key == 7;
}

/* A blame row of an ended group is not reused while a core is still creating the row. */
TEST(test_blame_in_the_making)
{
	const uint64_t retired[] = {7};
	struct runq_row *list;

	rows_begin();
	rows_table.ended = seven_ended;
	rows_charge(7, 5, 10);
	not_in_index = true;
	assert_int_equal(rows_read(&no_chunks, retired, 1, &list), 1);
	assert_int_equal(rows_blamed(list, 1, 7, 5), 10);
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 0);
	not_in_index = false;
	assert_int_equal(rows_nr_free, 0);
	assert_int_equal(rows_memory[1].pair.victim, 7);
	/* The row of group 7 has been written but has no new waits, so the reader frees the row. */
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 0);
	assert_int_equal(rows_nr_free, 1);
	assert_int_equal(rows_memory[1].pair.victim, 0);
	runq_blame_close(&rows_table);
}

/* A row created after the end of its group is reported once and freed. */
TEST(test_blame_late)
{
	const uint64_t retired[] = {7};
	struct runq_row *list;
	size_t nr;

	rows_begin();
	rows_table.ended = seven_ended;
	rows_charge(5, 6, 100);
	rows_charge(5, RUNQ_KEY_IDLE, 100);
	assert_int_equal(rows_read(&no_chunks, retired, 1, &list), 2);
	rows_charge(7, 5, 10);
	rows_charge(5, 7, 20);
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 2);
	assert_int_equal(rows_nr_free, 0);
	rows_charge(5, 7, 3);
	nr = rows_read(&no_chunks, NULL, 0, &list);
	assert_int_equal(nr, 1);
	assert_int_equal(rows_blamed(list, nr, 5, 7), 3);
	assert_int_equal(rows_nr_free, 1);
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 0);
	assert_int_equal(rows_nr_free, 2);
	assert_int_equal(rows_pairs, 2);
	assert_int_equal(rows_table.nr_late, 0);
	rows_charge(8, 5, 4);
	nr = rows_read(&no_chunks, NULL, 0, &list);
	assert_int_equal(nr, 1);
	assert_int_equal(rows_blamed(list, nr, 8, 5), 4);
	assert_int_equal(rows_read(&no_chunks, NULL, 0, &list), 0);
	assert_int_equal(rows_pairs, 3);
	runq_blame_close(&rows_table);
}

TEST_MAIN()
