/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Renders label pairs as text and keeps them for protobuf. */
#include "view/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
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

/* The value as every view shows it, allocated. */
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

	for (size_t i = 0; i < nr; i++) {
		value = labels_next(name);
		if (strcmp(name, pairs[i].name) || !same_value(value, &pairs[i]))
			return false;
		name = labels_next(value);
	}
	return !*name;
}

uint64_t labels_hash(const struct label *pairs, size_t nr)
{
	uint64_t hash = HASH_START;

	for (size_t i = 0; i < nr; i++)
		hash = pairs[i].value ? hash_bytes(hash, pairs[i].value, strlen(pairs[i].value) + 1)
				      : hash_bytes(hash, &pairs[i].number, sizeof(pairs[i].number));
	return hash;
}
