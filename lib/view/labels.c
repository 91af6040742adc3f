/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Renders label pairs as text and keeps them for protobuf. */
#include "view/labels.h"

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

/* @valid: the values as UTF-8. */
static struct labels *render(const struct label *pairs, char *const *valid, size_t nr)
{
	struct labels *labels, *smaller;
	size_t size = sizeof(*labels) + 2;
	char *to;

	for (size_t i = 0; i < nr; i++)
		size += 2 * strlen(pairs[i].name) + 3 * strlen(valid[i]) + 6;
	labels = malloc(size);
	if (!labels)
		return NULL;
	labels->next = NULL;
	to = labels->data;
	for (size_t i = 0; i < nr; i++) {
		if (i)
			*to++ = ',';
		to = stpcpy(stpcpy(to, pairs[i].name), "=\"");
		to = labels_escape(to, valid[i]);
		*to++ = '"';
	}
	*to++ = '\0';
	labels->text_len = to - labels->data - 1;
	for (size_t i = 0; i < nr; i++)
		to = stpcpy(stpcpy(to, pairs[i].name) + 1, valid[i]) + 1;
	*to++ = '\0';
	smaller = realloc(labels, to - (char *)labels);
	return smaller ? smaller : labels;
}

struct labels *labels_new(const struct label *pairs, size_t nr)
{
	char *valid[LABELS_MAX] = {NULL};
	struct labels *labels = NULL;
	size_t done = 0;

	while (done < nr && (valid[done] = utf8_valid(pairs[done].value)))
		done++;
	if (done == nr)
		labels = render(pairs, valid, nr);
	while (done)
		free(valid[--done]);
	return labels;
}

bool labels_equal(const struct labels *labels, const struct label *pairs, size_t nr)
{
	const char *str = labels_first(labels);

	for (size_t i = 0; i < nr; i++) {
		if (strcmp(str, pairs[i].name))
			return false;
		str = labels_next(str);
		if (strcmp(str, pairs[i].value))
			return false;
		str = labels_next(str);
	}
	return !*str;
}

uint64_t labels_hash(uint64_t hash, const char *value)
{
	unsigned char bits = 0;
	size_t len = 0;
	char *valid;

	for (; value[len]; len++)
		bits |= value[len];
	if (bits < 0x80)
		return hash_bytes(hash, value, len);
	valid = utf8_valid(value);
	hash = hash_bytes(hash, valid ? valid : value, valid ? strlen(valid) : len);
	free(valid);
	return hash;
}
