/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of rows, found by key. */
#include "view/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Slots of the hash table per row. */
#define SLOTS 2

static size_t home(const struct series_table *t, uint64_t key)
{
	/* Fibonacci hashing: keys can be small numbers. */
	return (key * 0x9e3779b97f4a7c15ULL >> 32) & (SLOTS * t->room - 1);
}

static size_t next(const struct series_table *t, size_t slot)
{
	return (slot + 1) & (SLOTS * t->room - 1);
}

struct series_row *series_find(const struct series_table *t, uint64_t key, const char *value)
{
	if (!t->room)
		return NULL;
	for (size_t slot = home(t, key); t->hash[slot]; slot = next(t, slot)) {
		struct series_row *row = t->rows[t->hash[slot] - 1];

		if (row->key == key &&
		    (!value || !strcmp(labels_next(labels_first(row->labels)), value)))
			return row;
	}
	return NULL;
}

static void hash_add(struct series_table *t, const struct series_row *row)
{
	size_t slot = home(t, row->key);

	while (t->hash[slot])
		slot = next(t, slot);
	t->hash[slot] = row->index + 1;
}

static int grow(struct series_table *t)
{
	size_t room = t->room ? t->room * 2 : 8;
	struct series_row **rows = reallocarray(t->rows, room, sizeof(struct series_row *));
	uint32_t *hash;

	if (!rows)
		return -ENOMEM;
	t->rows = rows;
	hash = calloc(SLOTS * room, sizeof(*hash));
	if (!hash)
		return -ENOMEM;
	free(t->hash);
	t->hash = hash;
	t->room = room;
	for (size_t i = 0; i < t->nr; i++)
		hash_add(t, t->rows[i]);
	return 0;
}

static size_t row_size(const struct series_table *t)
{
	return sizeof(struct series_row) + t->width * sizeof(union word);
}

static void row_free(const struct series_table *t, struct series_row *row)
{
	free((char *)row - t->head);
}

struct series_row *series_add(struct series_table *t, uint64_t key, const struct label *pairs,
			      size_t nr)
{
	struct labels *labels = NULL;
	struct series_row *row;
	char *block;

	if (t->nr == t->room && grow(t))
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
	hash_add(t, row);
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

static size_t slot_of(const struct series_table *t, const struct series_row *row)
{
	size_t slot = home(t, row->key);

	while (t->hash[slot] != row->index + 1)
		slot = next(t, slot);
	return slot;
}

/* Empties a slot, and moves up later rows that a search would not reach any more. */
static void hash_remove(struct series_table *t, size_t hole)
{
	size_t mask = SLOTS * t->room - 1;

	for (size_t slot = next(t, hole); t->hash[slot]; slot = next(t, slot)) {
		size_t from = home(t, t->rows[t->hash[slot] - 1]->key);

		if (((slot - from) & mask) < ((slot - hole) & mask))
			continue;
		t->hash[hole] = t->hash[slot];
		hole = slot;
	}
	t->hash[hole] = 0;
}

void series_remove(struct series_table *t, struct series_row *row)
{
	struct series_row *last = t->rows[t->nr - 1];

	hash_remove(t, slot_of(t, row));
	if (last != row) {
		t->hash[slot_of(t, last)] = row->index + 1;
		last->index = row->index;
		t->rows[row->index] = last;
	}
	t->nr--;
	retire(t, row->labels);
	retire(t, row->names);
	row_free(t, row);
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
	free(t->hash);
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

	for (size_t i = 0; i < t->nr; i++)
		for (unsigned int part = 0; part < series_parts(s); part++)
			nr += series_shows(s, t->rows[i], part);
	return nr;
}
