/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of metric families, in tables: one row per core, cgroup, pair of cgroups, … */
#ifndef SUBTICK_VIEW_SERIES_H
#define SUBTICK_VIEW_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/family.h"

/* The maximum in one struct labels. */
#define LABELS_MAX 16

/* The name needs no escaping; the value can be any text. */
struct label {
	const char *name, *value;
	unsigned int number; /* the value, if that is NULL */
};
#define LABEL(name, value)	   {name, value, 0}
#define LABEL_NUMBER(name, number) {name, NULL, number}

/* Immutable. Free it with free(). */
struct labels {
	struct labels *next; /* in the table's list of retired labels */
	size_t text_len;
	/* The text: name="value",…, escaped. Behind its NUL the pairs: name, NUL, value, NUL, …, NUL. */
	char data[];
};

/* Values are escaped as by utf8_printable(). NULL if out of memory. */
struct labels *labels_new(const struct label *pairs, size_t nr);
/* True if labels_new() would return the same. @labels: NULL for no labels. No numbers. */
bool labels_equal(const struct labels *labels, const struct label *pairs, size_t nr);
/* Hash of the values. Only values of the kernel and of subtick: printable, and none chosen to collide. */
uint64_t labels_hash(const struct label *pairs, size_t nr);
/* Writes a value as the text has it; returns the end. @to needs twice the room. */
char *labels_escape(char *to, const char *value);

/* The name of the first pair, "" if there is none. */
static inline const char *labels_first(const struct labels *labels)
{
	return labels ? labels->data + labels->text_len + 1 : "";
}

/* The string after a name or value: its value, or the next name. "" at the end. */
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

/* All counters of one holder. */
struct series_row {
	struct labels *labels; /* unique in the table; NULL: none */
	struct labels *names;  /* written after them: names that may change; NULL: none */
	struct series_row *next; /* in the bucket of the hash table */
	uint64_t key;
	uint64_t shown; /* bit N: sample N is on the page */
	size_t index;	/* in the table */
	union word words[];
};

/* Zeroed except for head and width is empty. */
struct series_table {
	size_t head; /* bytes of the caller's struct before its struct series_row */
	unsigned int width; /* words of a row */
	unsigned int samples; /* bits of shown in use */
	struct series_row **rows;
	struct series_row **buckets; /* by key */
	size_t nr, room;
	struct labels *retired; /* that a copy may still use */
	char *block; /* of a copy: its rows */
};

/*
 * Buckets of a native histogram of Prometheus: the zero bucket, then @nr buckets from index @first
 * on. Buckets of schema s end at powers of 2^(1/2^s) seconds. The last one has everything above it.
 */
struct series_native {
	int schema;
	int first;
	unsigned int nr; /* 0: no native histogram */
	/* Word of the zero bucket, from the sample's first word on. 0: the buckets are the differences
	 * between the boundaries, and everything above the last boundary. */
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
	unsigned int words; /* of all its samples of a row */
	unsigned int bit;   /* in shown */
	/* With parts, a row has a sample of one word for each part, with one more label. */
	const char *part_name;
	const char *const *parts;
	unsigned int nr_parts;
	const uint64_t *le_ns; /* of a histogram */
	unsigned int nr_le;
	uint64_t le_hidden; /* bits of boundaries that are counted but not on the page */
	struct series_native native;
};

/* The row with @key; NULL if there is none. @value: NULL, or the value of its first label. */
struct series_row *series_find(const struct series_table *table, uint64_t key, const char *value);
/* Adds a row of zeros; the caller's struct before it is zeroed, too. NULL if out of memory. */
struct series_row *series_add(struct series_table *table, uint64_t key, const struct label *pairs,
			      size_t nr);
/* Replaces the names; @nr is 0 for none. False if they are the same, or out of memory. */
bool series_set_names(struct series_table *table, struct series_row *row,
		      const struct label *pairs, size_t nr);
/* Frees @row; the last row gets its index. */
void series_remove(struct series_table *table, struct series_row *row);
/* Frees retired labels; only while no copy is in use. */
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

/* The sample of a part, 0 without parts, now on the page. */
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

/* Samples of the family. */
size_t series_count(const struct series *series, const struct series_table *table);

#endif
