/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hash tables of metric rows, and the labels of the rows. */
#include "view/series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/utf8.h"

char *labels_escape(char *to, const char *value)
{
	for (; *value; value++) {
		if (*value == '\\' || *value == '"' || *value == '\n')
			*to++ = '\\';
		*to++ = *value == '\n' ? 'n' : *value;
	}
	return to;
}

/* Returns the escaped value of a metric label. The caller frees the text. */
static char *value_of(const struct label *label)
{
	char number[16];

	if (label->value)
		return utf8_printable(label->value, 0);
	snprintf(number, sizeof(number), "%u", label->number);
	return strdup(number);
}

static void render(struct labels *labels, const struct label *pairs, char *const *values, size_t nr)
{
	char *to = labels->data;

	for (size_t i = 0; i < nr; i++) {
		if (i)
			*to++ = ',';
		to = labels_escape(stpcpy(stpcpy(to, pairs[i].name), "=\""), values[i]);
		*to++ = '"';
	}
	*to = '\0';
	labels->next = NULL;
	labels->text_len = to++ - labels->data;
	for (size_t i = 0; i < nr; i++)
		to = stpcpy(stpcpy(to, pairs[i].name) + 1, values[i]) + 1;
	*to = '\0';
}

struct labels *labels_new(const struct label *pairs, size_t nr)
{
	struct labels *labels = NULL;
	size_t size = sizeof(*labels) + 2, done = 0;
	char *values[LABELS_MAX];

	while (done < nr && (values[done] = value_of(&pairs[done]))) {
		size += 2 * strlen(pairs[done].name) + 3 * strlen(values[done]) + 6;
		done++;
	}
	if (done == nr)
		labels = malloc(size);
	if (labels)
		render(labels, pairs, values, nr);
	while (done)
		free(values[--done]);
	return labels;
}

static bool same_value(const char *shown, const struct label *label)
{
	bool same = !strcmp(shown, label->value);
	char *value = same ? NULL : value_of(label);

	same |= value && !strcmp(shown, value);
	free(value);
	return same;
}

bool labels_equal(const struct labels *labels, const struct label *pairs, size_t nr)
{
	const char *name = labels_first(labels), *value;

	array_for_each(pair, pairs, nr) {
		value = labels_next(name);
		if (strcmp(name, pair->name) || !same_value(value, pair))
			return false;
		name = labels_next(value);
	}
	return !*name;
}

uint64_t labels_hash(const struct label *pairs, size_t nr)
{
	uint64_t hash = HASH_START;

	array_for_each(pair, pairs, nr)
		hash = pair->value ? hash_bytes(hash, pair->value, strlen(pair->value) + 1)
				   : hash_bytes(hash, &pair->number, sizeof(pair->number));
	return hash;
}

static struct series_row **bucket(const struct series_table *t, uint64_t key)
{
	/* Fibonacci hashing spreads keys that are small numbers over all buckets. */
	return &t->buckets[(key * 0x9e3779b97f4a7c15ULL >> 32) & (t->room - 1)];
}

struct series_row *series_find(const struct series_table *t, uint64_t key, const char *value)
{
	struct series_row *row = t->room ? *bucket(t, key) : NULL;

	while (row && (row->key != key ||
		       (value && strcmp(labels_next(labels_first(row->labels)), value))))
		row = row->next;
	return row;
}

static void link_row(struct series_table *t, struct series_row *row)
{
	row->next = *bucket(t, row->key);
	*bucket(t, row->key) = row;
}

static int table_grow(struct series_table *t)
{
	size_t room = t->room ? t->room * 2 : 8;
	struct series_row **rows = reallocarray(t->rows, room, sizeof(*rows));
	struct series_row **buckets;

	if (!rows)
		return -ENOMEM;
	t->rows = rows;
	buckets = calloc(room, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	free(t->buckets);
	t->buckets = buckets;
	t->room = room;
	array_for_each(row, t->rows, t->nr)
		link_row(t, *row);
	return 0;
}

static size_t row_size(const struct series_table *t)
{
	return sizeof(struct series_row) + t->width * sizeof(union word);
}

struct series_row *series_add(struct series_table *t, uint64_t key, const struct label *pairs,
			      size_t nr)
{
	struct labels *labels = NULL;
	struct series_row *row;
	char *block;

	if (t->nr == t->room && table_grow(t))
		return NULL;
	block = calloc(1, t->head + row_size(t));
	if (block && nr)
		labels = labels_new(pairs, nr);
	if (!block || (nr && !labels)) {
		free(block);
		return NULL;
	}
	row = (struct series_row *)(block + t->head);
	row->labels = labels;
	row->key = key;
	row->index = t->nr;
	t->rows[t->nr++] = row;
	link_row(t, row);
	return row;
}

static void retire(struct series_table *t, struct labels *labels)
{
	if (!labels)
		return;
	labels->next = t->retired;
	t->retired = labels;
}

bool series_set_names(struct series_table *t, struct series_row *row, const struct label *pairs,
		      size_t nr)
{
	struct labels *names;

	if (labels_equal(row->names, pairs, nr))
		return false;
	names = nr ? labels_new(pairs, nr) : NULL;
	if (nr && !names)
		return false;
	retire(t, row->names);
	row->names = names;
	return true;
}

void series_remove(struct series_table *t, struct series_row *row)
{
	struct series_row **link = bucket(t, row->key), *last = t->rows[--t->nr];

	while (*link != row)
		link = &(*link)->next;
	*link = row->next;
	last->index = row->index;
	t->rows[row->index] = last;
	retire(t, row->labels);
	retire(t, row->names);
	free((char *)row - t->head);
}

void series_reclaim(struct series_table *t)
{
	while (t->retired) {
		struct labels *labels = t->retired;

		t->retired = labels->next;
		free(labels);
	}
}

void series_free(struct series_table *t)
{
	while (t->nr)
		series_remove(t, t->rows[t->nr - 1]);
	series_reclaim(t);
	free(t->rows);
	free(t->buckets);
	memset(t, 0, sizeof(*t));
}

int series_copy(struct series_table *copy, const struct series_table *t)
{
	size_t size = row_size(t);

	if (copy->room < t->nr) {
		struct series_row **rows = reallocarray(copy->rows, t->nr, sizeof(*rows));
		char *block;

		if (!rows)
			return -ENOMEM;
		copy->rows = rows;
		block = reallocarray(copy->block, t->nr, size);
		if (!block)
			return -ENOMEM;
		copy->block = block;
		copy->room = t->nr;
	}
	copy->nr = t->nr;
	for (size_t i = 0; i < t->nr; i++) {
		copy->rows[i] = (struct series_row *)(copy->block + i * size);
		memcpy(copy->rows[i], t->rows[i], size);
	}
	return 0;
}

void series_copy_free(struct series_table *copy)
{
	free(copy->rows);
	free(copy->block);
	memset(copy, 0, sizeof(*copy));
}

size_t series_count(const struct series *s, const struct series_table *t)
{
	size_t nr = 0;

	array_for_each(row, t->rows, t->nr)
		for (unsigned int part = 0; part < series_parts(s); part++)
			nr += series_shows(s, *row, part);
	return nr;
}
