/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the two text formats of Prometheus, without printf(): a scrape may have 100,000 lines. */
#include "view/prom.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/prom_proto.h"

static void puts_(struct prom *p, const char *str)
{
	prom_put(p, str, strlen(str));
}

static size_t format_u64(char *to, uint64_t value)
{
	char digits[20];
	size_t nr = 0;

	do
		digits[nr++] = '0' + value % 10;
	while (value /= 10);
	for (size_t i = 0; i < nr; i++)
		to[i] = digits[nr - 1 - i];
	return nr;
}

/* Exact: a double would round a counter after some weeks, and so its rate. */
static size_t format_seconds(char *to, uint64_t ns)
{
	size_t len = format_u64(to, ns / 1000000000);
	uint32_t rest = ns % 1000000000;

	if (!rest)
		return len;
	to[len++] = '.';
	for (uint32_t unit = 100000000; rest; unit /= 10) {
		to[len++] = '0' + rest / unit;
		rest %= unit;
	}
	return len;
}

static size_t format_word(char *to, const struct family *family, union word word)
{
	switch (family->unit) {
	case UNIT_NS:
		return format_seconds(to, word.u64);
	case UNIT_RATIO:
		return snprintf(to, 32, "%.9g", word.f64);
	default:
		return format_u64(to, word.u64);
	}
}

static const char *type_name(enum family_type type, enum prom_format format)
{
	switch (type) {
	case FAMILY_COUNTER:
		return "counter";
	case FAMILY_HISTOGRAM:
		return "histogram";
	case FAMILY_INFO:
		return format == PROM_OPENMETRICS ? "info" : "gauge";
	default:
		return "gauge";
	}
}

static void put_meta(struct prom *p, const char *what, const char *name, const char *suffix,
		     const char *text)
{
	puts_(p, "# ");
	puts_(p, what);
	puts_(p, name);
	puts_(p, suffix);
	puts_(p, " ");
	puts_(p, text);
	puts_(p, "\n");
}

/* In OpenMetrics a family's name has no type suffix; in text format it has the samples' suffix. */
static void put_head(struct prom *p, const struct family *f)
{
	bool open = p->format == PROM_OPENMETRICS;
	const char *suffix = open ? "" : family_suffix(f);

	if (!open)
		put_meta(p, "HELP ", f->name, suffix, f->help);
	put_meta(p, "TYPE ", f->name, suffix, type_name(f->type, p->format));
	if (!open)
		return;
	if (f->unit == UNIT_NS)
		put_meta(p, "UNIT ", f->name, "", "seconds");
	else if (f->unit == UNIT_RATIO)
		put_meta(p, "UNIT ", f->name, "", "ratio");
	else if (f->unit == UNIT_BYTES)
		put_meta(p, "UNIT ", f->name, "", "bytes");
	put_meta(p, "HELP ", f->name, "", f->help);
}

/* The labels of a sample without braces: @part of the row's samples. Ends at the result. */
static char *format_labels(char *to, const struct series *s, const struct series_row *row,
			   unsigned int part)
{
	char *begin = to;

	if (row->labels)
		to = mempcpy(to, row->labels->data, row->labels->text_len);
	if (s->nr_parts) {
		if (to > begin)
			*to++ = ',';
		to = stpcpy(stpcpy(to, s->part_name), "=\"");
		to = labels_escape(to, s->parts[part]);
		*to++ = '"';
	}
	if (row->names) {
		*to++ = ',';
		to = mempcpy(to, row->names->data, row->names->text_len);
	}
	return to;
}

/* Bytes that format_labels() needs at most. */
static size_t labels_room(const struct series *s, const struct series_row *row, unsigned int part)
{
	size_t room = 8;

	if (row->labels)
		room += row->labels->text_len;
	if (s->nr_parts)
		room += strlen(s->part_name) + 2 * strlen(s->parts[part]);
	if (row->names)
		room += row->names->text_len;
	return room;
}

/* Makes room for @len contiguous bytes; NULL if a block is smaller. */
static char *reserve(struct prom *p, size_t len)
{
	if (len > sizeof(p->block)) {
		p->rc = -EOVERFLOW;
		return NULL;
	}
	if (sizeof(p->block) - p->used < len)
		prom_flush(p);
	return p->block + p->used;
}

static void put_line(struct prom *p, const char *head, const struct series *s,
		     const struct series_row *row, unsigned int part, const char *value, size_t len)
{
	size_t head_len = strlen(head);
	char *to = reserve(p, head_len + labels_room(s, row, part) + 4 + len), *labels;

	if (!to)
		return;
	labels = mempcpy(to, head, head_len);
	to = format_labels(labels + 1, s, row, part);
	if (to > labels + 1) {
		*labels = '{';
		*to++ = '}';
	} else {
		to = labels;
	}
	*to++ = ' ';
	to = mempcpy(to, value, len);
	*to++ = '\n';
	p->used = to - p->block;
}

/* The le label is a float in both formats: one second is 1.0 in OpenMetrics. */
static void format_le(char *to, uint64_t ns, enum prom_format format)
{
	size_t len = format_seconds(to, ns);

	to[len] = '\0';
	if (format == PROM_OPENMETRICS && !strchr(to, '.'))
		strcpy(to + len, ".0");
}

/* Writes all boundaries of one row; @prefix ends with le=", only number and count vary. */
static void put_buckets(struct prom *p, const char *prefix, size_t len, const union word *words,
			unsigned int nr, char (*le)[32])
{
	for (unsigned int i = 0; i <= nr; i++) {
		char *to = reserve(p, len + 32 + 3 + 20 + 1);

		if (!to)
			return;
		to = stpcpy(mempcpy(to, prefix, len), i < nr ? le[i] : "+Inf");
		to = stpcpy(to, "\"} ");
		to += format_u64(to, words[i].u64);
		*to++ = '\n';
		p->used = to - p->block;
	}
}

static void put_histogram(struct prom *p, const struct series *s, const struct series_row *row,
			  char (*le)[32])
{
	const union word *words = &row->words[s->at];
	char head[128], value[32], *prefix, *to, *labels;

	prefix = malloc(strlen(s->family->name) + labels_room(s, row, 0) + 16);
	if (!prefix) {
		p->rc = -ENOMEM;
		return;
	}
	labels = stpcpy(stpcpy(prefix, s->family->name), "_bucket{");
	to = format_labels(labels, s, row, 0);
	to = stpcpy(to, to > labels ? ",le=\"" : "le=\"");
	put_buckets(p, prefix, to - prefix, words, s->nr_le, le);
	free(prefix);
	snprintf(head, sizeof(head), "%s_sum", s->family->name);
	put_line(p, head, s, row, 0, value, format_seconds(value, words[s->nr_le + 1].u64));
	snprintf(head, sizeof(head), "%s_count", s->family->name);
	put_line(p, head, s, row, 0, value, format_u64(value, words[s->nr_le].u64));
}

static void put_samples(struct prom *p, const struct series *s, const struct series_row *row,
			const char *head, char (*le)[32])
{
	char value[32];

	for (unsigned int part = 0; part < series_parts(s); part++) {
		if (!series_shows(s, row, part))
			continue;
		if (le)
			put_histogram(p, s, row, le);
		else
			put_line(p, head, s, row, part, value,
				 format_word(value, s->family, row->words[s->at + part]));
	}
}

void prom_write(struct prom *p, const struct series *s, const struct series_table *table)
{
	char (*le)[32] = NULL, head[128];

	if (p->rc || !series_count(s, table))
		return;
	if (p->format == PROM_PROTOBUF) {
		prom_proto_write(p, s, table);
		return;
	}
	put_head(p, s->family);
	if (s->family->type == FAMILY_HISTOGRAM) {
		le = calloc(s->nr_le + 1, sizeof(*le));
		if (!le) {
			p->rc = -ENOMEM;
			return;
		}
		for (unsigned int i = 0; i < s->nr_le; i++)
			format_le(le[i], s->le_ns[i], p->format);
	}
	snprintf(head, sizeof(head), "%s%s", s->family->name, family_suffix(s->family));
	for (size_t i = 0; i < table->nr && !p->rc; i++)
		put_samples(p, s, table->rows[i], head, le);
	free(le);
}

int prom_end(struct prom *p)
{
	if (p->format == PROM_OPENMETRICS)
		puts_(p, "# EOF\n");
	prom_flush(p);
	return p->rc;
}
