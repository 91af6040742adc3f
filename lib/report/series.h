/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cumulative samples of one metric family by label, in flat arrays that are fast to copy. */
#ifndef SUBTICK_REPORT_SERIES_H
#define SUBTICK_REPORT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "report/family.h"

/* UNIT_RATIO uses f64, everything else u64 (ns, bytes, counts). */
union word {
	uint64_t u64;
	double f64;
};

/*
 * Buckets of a native histogram of Prometheus, after the zero bucket, from index first on; those of
 * schema s end at powers of 2^(1/2^s) seconds. The last one also has what is above it.
 */
struct series_native {
	int schema;
	int first;
	unsigned int nr; /* 0: no native histogram */
	/* Where in a row the words of the zero bucket and of these begin; 0: they are the
	 * differences of the boundaries, as many, and what is above the last one. */
	unsigned int at;
};

/*
 * A sample is one word; a histogram has one word per boundary (count up to it), then count and
 * sum_ns, then those of a native histogram. Labels are in the form of the output format: cpu="0",context="task". Behind their NUL is
 * a second string: see series_more().
 */
struct series {
	const struct family *family;
	uint64_t *le_ns;
	unsigned int nr_le;
	struct series_native native;
	unsigned int width; /* words per sample */
	char **labels;
	union word *words;
	size_t nr, room;
	uint32_t *index; /* open addressing over labels: row + 1, 0 for none */
	size_t index_size;
	char **dead; /* labels of removed rows, which a copy may still use */
	size_t nr_dead;
};

#define SERIES_NONE ((size_t)-1)

int series_init(struct series *series, enum family_id id, const uint64_t *le_ns,
		unsigned int nr_le);
/* Also as a native histogram. @words: with words of its own. Only while there are no rows. */
void series_set_native(struct series *series, int schema, int first, unsigned int nr, bool words);
void series_free(struct series *series);

/* The row with these labels; adds one of zeros if there is none. SERIES_NONE if out of memory. */
size_t series_row(struct series *series, const char *labels);
/* The same, but never adds one. */
size_t series_find(const struct series *series, const char *labels);
/*
 * Labels that are shown after those of the row and do not tell it from others: names, which may
 * become known later. @more is "" or begins with a comma.
 */
void series_set_more(struct series *series, size_t row, const char *more);
/* Those of a row's labels; "" if there are none. */
static inline const char *series_more(const char *labels)
{
	return labels + strlen(labels) + 1;
}
/* Removes @row; the last row moves into its place. */
void series_remove(struct series *series, size_t row);
/* Frees labels of removed rows; only while no copy is in use. */
void series_bury(struct series *series);

static inline union word *series_words(const struct series *series, size_t row)
{
	return &series->words[row * series->width];
}

/*
 * A copy to read while the original changes. It has its own words and shares the labels. Its memory
 * is reused for the next copy; free it with series_copy_free().
 */
int series_copy(struct series *copy, const struct series *series);
void series_copy_free(struct series *copy);

#endif
