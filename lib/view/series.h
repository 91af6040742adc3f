/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of metric samples, with one row per core, cgroup or pair of cgroups. */
#ifndef SUBTICK_VIEW_SERIES_H
#define SUBTICK_VIEW_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/family.h"

/* Maximum number of labels of a row. */
#define LABELS_MAX 16

/* A metric label. The name needs no escapes; the value can be any text. */
struct label {
	const char *name, *value;
	unsigned int number; /* numeric value, used if @value is NULL */
};
#define LABEL(name, value)	   {name, value, 0}
#define LABEL_NUMBER(name, number) {name, NULL, number}

/* Immutable set of metric labels, freed with free(). */
struct labels {
	struct labels *next; /* next entry of series_table.retired */
	size_t text_len;
	/*
	 * Strings, each with a NUL: the escaped text such as name="value",other="value", name and
	 * value of each label, and an empty string at the end.
	 */
	char data[];
};

/* Makes a set of labels with values escaped by utf8_printable(). Returns NULL if out of memory. */
struct labels *labels_new(const struct label *pairs, size_t nr);
/*
 * True if labels_new(@pairs) would equal @labels. NULL @labels means no labels. All values of
 * @pairs must be texts.
 */
bool labels_equal(const struct labels *labels, const struct label *pairs, size_t nr);
/*
 * Hash of label values. Collisions are easy to construct, so label values must come from the kernel
 * or from subtick.
 */
uint64_t labels_hash(const struct label *pairs, size_t nr);
/*
 * Writes an escaped label value to @to, which must have space for twice the length of @value.
 * Returns the end of the text.
 */
char *labels_escape(char *to, const char *value);

/* Returns the name of the first label, or "" if the set is empty. */
static inline const char *labels_first(const struct labels *labels)
{
	return labels ? labels->data + labels->text_len + 1 : "";
}

/*
 * Next string of a set of labels: the value after a name, the next name after a value, "" at the
 * end.
 */
static inline const char *labels_next(const char *str)
{
	while (*str++)
		;
	return str;
}

/* Value of a sample. Metrics in UNIT_RATIO use the member f64, all other metrics use u64. */
union word {
	uint64_t u64;
	double f64;
};

/* All counters of one core, cgroup or pair of cgroups. */
struct series_row {
	struct labels *labels; /* labels that identify the row, or NULL */
	/* labels that may change, such as names of pods, written after @labels, or NULL */
	struct labels *names;
	struct series_row *next; /* next row in the same hash bucket */
	uint64_t key;
	uint64_t shown; /* bit N: sample N is exported */
	size_t index;	/* index in series_table.rows */
	union word words[];
};

/* Hash table of rows. A table is empty if every member except head and width is zero. */
struct series_table {
	size_t head; /* offset of struct series_row in the struct of the caller */
	unsigned int width; /* number of elements of series_row.words */
	unsigned int samples; /* number of bits used in series_row.shown */
	struct series_row **rows;
	struct series_row **buckets; /* hash buckets, by series_row.key */
	size_t nr, room;
	struct labels *retired; /* list of replaced labels that a copy of the table may still use */
	char *block; /* memory block with the rows, if the table is a copy */
};

/*
 * Native histogram: the zero bucket, then @nr buckets from index @first on. Buckets of schema s end
 * at powers of 2^(1/2^s) seconds. The last bucket also counts all larger values.
 */
struct series_native {
	int schema;
	int first;
	unsigned int nr; /* number of buckets, or 0 for no native histogram */
	/*
	 * Offset in words from the start of the sample to the zero bucket. 0: no native buckets are
	 * stored; each is the difference of two cumulative counts.
	 */
	unsigned int at;
};

/*
 * A metric family with one sample per row. A histogram has several words per row: the cumulative
 * count of each boundary, the total count, the sum in ns, and the native buckets.
 */
struct series {
	const struct family *family;
	unsigned int table; /* index of the table that has the rows */
	unsigned int at;    /* index of the family's first word in series_row.words */
	unsigned int words; /* number of the family's words in series_row.words */
	unsigned int bit;   /* bit number in series_row.shown */
	/*
	 * part_name: label that distinguishes the samples of a row, such as the context of load, or
	 * NULL if a row has one sample. parts: values of this label. Each sample is one word.
	 */
	const char *part_name;
	const char *const *parts;
	unsigned int nr_parts;
	const uint64_t *le_ns; /* upper bounds of a histogram's buckets */
	unsigned int nr_le;
	uint64_t le_hidden; /* bit N: boundary N is counted but not exported */
	struct series_native native;
};

/*
 * Finds the row with @key. Unless @value is NULL, the row's first label must have the value @value.
 * Returns NULL if no row matches.
 */
struct series_row *series_find(const struct series_table *table, uint64_t key, const char *value);
/*
 * Adds a row of zeros, and zeroes the caller's struct that contains the row. Returns NULL if out of
 * memory.
 */
struct series_row *series_add(struct series_table *table, uint64_t key, const struct label *pairs,
			      size_t nr);
/* Replaces series_row.names. Returns false if the labels are unchanged or memory is exhausted. */
bool series_set_names(struct series_table *table, struct series_row *row,
		      const struct label *pairs, size_t nr);
/* Frees a row of a table. The last row of the table moves to the index of the removed row. */
void series_remove(struct series_table *table, struct series_row *row);
/* Frees the replaced labels of a table. No copy of the table may be in use. */
void series_reclaim(struct series_table *table);
void series_free(struct series_table *table);

/*
 * Copies all rows, and reuses the memory of @copy. The copied rows share the labels with the
 * original rows. series_find() does not work on a copy.
 */
int series_copy(struct series_table *copy, const struct series_table *table);
void series_copy_free(struct series_table *copy);

static inline unsigned int series_parts(const struct series *series)
{
	return series->nr_parts ? series->nr_parts : 1;
}

/* Returns the sample of @part (0 if the family has no parts), and marks the sample as exported. */
static inline union word *series_sample(const struct series *series, struct series_row *row,
					unsigned int part)
{
	row->shown |= 1ULL << (series->bit + part);
	return &row->words[series->at + part];
}

static inline bool series_shows(const struct series *series, const struct series_row *row,
				unsigned int part)
{
	return row->shown >> (series->bit + part) & 1;
}

size_t series_count(const struct series *series, const struct series_table *table);

#endif
