/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples by label, in flat arrays. */
#include "report/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

int series_init(struct series *s, enum family_id id, const uint64_t *le_ns, unsigned int nr_le)
{
	*s = (struct series){.family = family_get(id), .width = 1};
	if (s->family->type != FAMILY_HISTOGRAM)
		return 0;
	s->le_ns = malloc((nr_le + 1) * sizeof(*s->le_ns));
	if (!s->le_ns)
		return -ENOMEM;
	if (nr_le)
		memcpy(s->le_ns, le_ns, nr_le * sizeof(*le_ns));
	s->nr_le = nr_le;
	s->width = nr_le + 2;
	return 0;
}

void series_set_native(struct series *s, int schema, int first, unsigned int nr, bool words)
{
	s->native = (struct series_native){
		.schema = schema, .first = first, .nr = nr, .at = words ? s->width : 0};
	s->width += words ? nr + 1 : 0;
}

void series_free(struct series *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->labels[i]);
	series_bury(s);
	free(s->dead);
	free(s->le_ns);
	free(s->labels);
	free(s->words);
	free(s->index);
	memset(s, 0, sizeof(*s));
}

static uint64_t hash(const char *str)
{
	uint64_t h = hash_bytes(HASH_START, str, strlen(str));

	return h ^ h >> 32;
}

static size_t probe(const struct series *s, const char *labels)
{
	size_t at = hash(labels) & (s->index_size - 1);

	while (s->index[at] && strcmp(s->labels[s->index[at] - 1], labels))
		at = (at + 1) & (s->index_size - 1);
	return at;
}

static void reindex(struct series *s)
{
	memset(s->index, 0, s->index_size * sizeof(*s->index));
	for (size_t i = 0; i < s->nr; i++)
		s->index[probe(s, s->labels[i])] = i + 1;
}

static int grow(struct series *s)
{
	size_t room = s->room ? s->room * 2 : 16;
	uint32_t *index;
	char **labels;
	void *words;

	/* Store each array as soon as it has grown, so that a later failure loses nothing. */
	labels = reallocarray(s->labels, room, sizeof(*labels));
	if (!labels)
		return -ENOMEM;
	s->labels = labels;
	words = reallocarray(s->words, room * s->width, sizeof(union word));
	if (!words)
		return -ENOMEM;
	s->words = words;
	index = reallocarray(s->index, room * 2, sizeof(*index));
	if (!index)
		return -ENOMEM;
	s->index = index;
	s->index_size = room * 2;
	s->room = room;
	reindex(s);
	return 0;
}

size_t series_find(const struct series *s, const char *labels)
{
	size_t at;

	if (!s->index_size)
		return SERIES_NONE;
	at = probe(s, labels);
	return s->index[at] ? s->index[at] - 1 : SERIES_NONE;
}

/* Two strings, one behind the other. */
static char *labels_new(const char *labels, const char *more)
{
	size_t len = strlen(labels) + 1, more_len = strlen(more) + 1;
	char *own = malloc(len + more_len);

	if (own) {
		memcpy(own, labels, len);
		memcpy(own + len, more, more_len);
	}
	return own;
}

size_t series_row(struct series *s, const char *labels)
{
	size_t row = series_find(s, labels);
	char *own;

	if (row != SERIES_NONE)
		return row;
	if (s->nr == s->room && grow(s))
		return SERIES_NONE;
	own = labels_new(labels, "");
	if (!own)
		return SERIES_NONE;
	row = s->nr++;
	s->labels[row] = own;
	memset(series_words(s, row), 0, s->width * sizeof(union word));
	s->index[probe(s, own)] = row + 1;
	return row;
}

/* A reader may still use it. Out of memory, it is leaked. */
static void labels_die(struct series *s, char *labels)
{
	char **dead = reallocarray(s->dead, s->nr_dead + 1, sizeof(*dead));

	if (!dead)
		return;
	s->dead = dead;
	dead[s->nr_dead++] = labels;
}

void series_set_more(struct series *s, size_t row, const char *more)
{
	char *own;

	if (!strcmp(series_more(s->labels[row]), more))
		return;
	own = labels_new(s->labels[row], more);
	if (!own)
		return;
	labels_die(s, s->labels[row]);
	s->labels[row] = own;
}

/* Empties a slot and moves up later ones that a lookup would otherwise not find any more. */
static void unindex(struct series *s, size_t hole)
{
	size_t mask = s->index_size - 1;

	for (size_t at = (hole + 1) & mask; s->index[at]; at = (at + 1) & mask) {
		size_t home = hash(s->labels[s->index[at] - 1]) & mask;

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		s->index[hole] = s->index[at];
		hole = at;
	}
	s->index[hole] = 0;
}

void series_remove(struct series *s, size_t row)
{
	labels_die(s, s->labels[row]);
	unindex(s, probe(s, s->labels[row]));
	s->nr--;
	if (row == s->nr)
		return;
	s->index[probe(s, s->labels[s->nr])] = row + 1;
	s->labels[row] = s->labels[s->nr];
	memcpy(series_words(s, row), series_words(s, s->nr), s->width * sizeof(union word));
}

void series_bury(struct series *s)
{
	for (size_t i = 0; i < s->nr_dead; i++)
		free(s->dead[i]);
	s->nr_dead = 0;
}

int series_copy(struct series *copy, const struct series *s)
{
	if (copy->room < s->nr || copy->width != s->width) {
		char **labels = reallocarray(copy->labels, s->nr + 1, sizeof(*labels));
		void *words;

		if (!labels)
			return -ENOMEM;
		copy->labels = labels;
		words = reallocarray(copy->words, (s->nr + 1) * s->width, sizeof(union word));
		if (!words)
			return -ENOMEM;
		copy->words = words;
		copy->room = s->nr;
	}
	copy->family = s->family;
	copy->le_ns = s->le_ns;
	copy->nr_le = s->nr_le;
	copy->native = s->native;
	copy->width = s->width;
	copy->nr = s->nr;
	if (s->nr) {
		memcpy(copy->labels, s->labels, s->nr * sizeof(*s->labels));
		memcpy(copy->words, s->words, s->nr * s->width * sizeof(*s->words));
	}
	return 0;
}

void series_copy_free(struct series *copy)
{
	free(copy->labels);
	free(copy->words);
	memset(copy, 0, sizeof(*copy));
}
