/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Provides a metric family with one table, which is reset for each test. */
#ifndef SUBTICK_TESTS_UNIT_SERIES_TABLE_H
#define SUBTICK_TESTS_UNIT_SERIES_TABLE_H

#include "test.h"
#include "view/series.h"

static struct series_table table;
static struct series s;

static inline void begin(enum family_id id, const uint64_t *le_ns, unsigned int nr_le)
{
	table = (struct series_table){.width = nr_le + 32};
	s = (struct series){.family = family_get(id), .le_ns = le_ns, .nr_le = nr_le};
}

static inline struct series_row *add_pairs(const struct label *pairs, size_t nr)
{
	struct series_row *row = series_add(&table, table.nr, pairs, nr);

	assert_non_null(row);
	row->shown = 1;
	return row;
}

/* Adds a row with one sample to the table. The arguments are LABEL("name", "value"), … */
#define ADD(...)                                                                                  \
	add_pairs((const struct label[]){__VA_ARGS__},                                            \
		  sizeof((const struct label[]){__VA_ARGS__}) / sizeof(struct label))

#endif
