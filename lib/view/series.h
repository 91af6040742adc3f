/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of metric families, in tables: one row per core, cgroup, pair of cgroups, … */
#ifndef SUBTICK_VIEW_SERIES_H
#define SUBTICK_VIEW_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/family.h"

/* Maximum number of labels in one struct labels. */
#define LABELS_MAX 16

/* One label. The name needs no escaping. The value can be any text. */
struct label {
	const char *name, *value;
	unsigned int number; /* the value if @value is NULL */
};
#define LABEL(name, value)	   {name, value, 0}
#define LABEL_NUMBER(name, number) {name, NULL, number}

/* Immutable set of labels. Free it with free(). */
struct labels {
	struct labels *next; /* in the table's list of retired labels */
	size_t text_len;
	/*
	 * Escaped text name="value",… and a NUL. After the NUL the pairs follow: name, NUL, value,
	 * NUL, …, NUL.
	 */
	char data[];
};

/* Makes labels with values escaped as in utf8_printable(). NULL if out of memory. */
struct labels *labels_new(const struct label *pairs, size_t nr);
/*
 * True if labels_new() with @pairs would return labels equal to @labels. @labels is NULL for no
 * labels. @pairs must have text values only.
 */
bool labels_equal(const struct labels *labels, const struct label *pairs, size_t nr);
/*
 * Hash of the label values. Use it only for values from the kernel or subtick: they are printable
 * and not chosen to collide.
 */
uint64_t labels_hash(const struct label *pairs, size_t nr);
/*
 * Writes the escaped value to @to, which needs twice the length of the value. Returns the end of
 * the text.
 */
char *labels_escape(char *to, const char *value);

/* Name of the first pair, or "" for no pairs. */
static inline const char *labels_first(const struct labels *labels)
{
	return labels ? labels->data + labels->text_len + 1 : "";
}

/*
 * Next string in the list of pairs: the value after a name, or the next name after a value. "" at
 * the end.
 */
static inline const char *labels_next(const char *str)
{
	while (*str++)
		;
	return str;
}

/* UNIT_RATIO uses f64, everything else u64 (ns, bytes, counts). */
union word {
	uint64_t u64;
	double f64;
};

/* All counters of one core, cgroup or pair of cgroups. */
struct series_row {
	struct labels *labels; /* unique in the table, or NULL for no labels */
	/* Labels that may change, written after the unique labels; may be NULL. */
	struct labels *names;
	struct series_row *next; /* in the bucket of the hash table */
	uint64_t key;
	uint64_t shown; /* bit N: sample N is exported */
	size_t index;	/* in the table */
	union word words[];
};

/* Rows by key. A table is empty if every member except head and width is zero. */
struct series_table {
	size_t head; /* bytes of the caller's struct before its struct series_row */
	unsigned int width; /* number of words per row */
	unsigned int samples; /* number of bits used in series_row.shown */
	struct series_row **rows;
	struct series_row **buckets; /* by key */
	size_t nr, room;
	struct labels *retired; /* replaced labels that a copy may still use */
	char *block; /* memory of the rows of a copy */
};

/*
 * Buckets of a native histogram of Prometheus: the zero bucket, then @nr buckets from index @first
 * on. Buckets of schema s end at powers of 2^(1/2^s) seconds. The last bucket counts also all
 * larger values.
 */
struct series_native {
	int schema;
	int first;
	unsigned int nr; /* number of buckets, or 0 for no native histogram */
	/*
	 * Index of the zero bucket's word, relative to the sample's first word. 0 if the buckets
	 * are computed as differences of the cumulative counts.
	 */
	unsigned int at;
};

/*
 * A family: samples of the rows of a table. A histogram needs several words: one per boundary (count
 * up to it), count, sum_ns, then the words of a native histogram.
 */
struct series {
	const struct family *family;
	unsigned int table; /* number of the table */
	unsigned int at;    /* first word of the sample */
	unsigned int words; /* number of words per row, of all samples */
	unsigned int bit;   /* bit number in series_row.shown */
	/*
	 * With parts, a row has one sample of one word per part. The label part_name distinguishes
	 * the samples.
	 */
	const char *part_name;
	const char *const *parts;
	unsigned int nr_parts;
	const uint64_t *le_ns; /* upper bounds of a histogram's buckets */
	unsigned int nr_le;
	uint64_t le_hidden; /* bits of boundaries that are counted but not on the page */
	struct series_native native;
};

/*
 * Row with @key, or NULL. @value is the required value of the row's first label, or NULL for any
 * value.
 */
struct series_row *series_find(const struct series_table *table, uint64_t key, const char *value);
/* Adds a row of zeros. The caller's struct before the row is also zeroed. NULL if out of memory. */
struct series_row *series_add(struct series_table *table, uint64_t key, const struct label *pairs,
			      size_t nr);
/*
 * Replaces the changeable labels by @nr pairs; @nr may be 0. False if the labels are unchanged or
 * memory is out.
 */
bool series_set_names(struct series_table *table, struct series_row *row,
		      const struct label *pairs, size_t nr);
/* Frees @row. The last row moves to the index of @row. */
void series_remove(struct series_table *table, struct series_row *row);
/* Frees retired labels. Call series_reclaim() only while no copy is in use. */
void series_reclaim(struct series_table *table);
void series_free(struct series_table *table);

/*
 * Copies the rows, which share their labels with the originals. The memory of @copy is reused; free
 * it with series_copy_free(). A copy cannot be searched.
 */
int series_copy(struct series_table *copy, const struct series_table *table);
void series_copy_free(struct series_table *copy);

static inline unsigned int series_parts(const struct series *series)
{
	return series->nr_parts ? series->nr_parts : 1;
}

/* Sample of part @part, which is 0 without parts. Marks the sample as exported. */
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

/* Number of samples of the family. */
size_t series_count(const struct series *series, const struct series_table *table);

#endif
