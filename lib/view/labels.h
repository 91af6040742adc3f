/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Label pairs of Prometheus samples: escaped once, written with every sample. */
#ifndef SUBTICK_VIEW_LABELS_H
#define SUBTICK_VIEW_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* What follows a name or a value: the value of the name, or the next name, "" at the end. */
static inline const char *labels_next(const char *str)
{
	while (*str++)
		;
	return str;
}

#endif
