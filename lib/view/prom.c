/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text formats of Prometheus, without the slow printf(): a scrape may have 100,000 lines. */
#include "view/prom.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "view/cells.h"

#define NR_PARAMS 2

/* Parameter that a media type in an Accept header must have, unless @optional. */
struct param {
	const char *name, *value;
	bool optional;
};

static const struct media {
	const char *type, *content_type;
	struct param params[NR_PARAMS];
} media[PROM_NR_FORMATS] = {
	[PROM_TEXT] = {.type = "text/plain",
		       .content_type = "text/plain; version=0.0.4; charset=utf-8"},
	[PROM_OPENMETRICS] = {"application/openmetrics-text",
			      "application/openmetrics-text; version=1.0.0; charset=utf-8",
			      {{"version", "1.0.0", true}}},
	[PROM_PROTOBUF] = {"application/vnd.google.protobuf",
			   "application/vnd.google.protobuf; "
			   "proto=io.prometheus.client.MetricFamily; encoding=delimited",
			   {{"proto", "io.prometheus.client.MetricFamily", false},
			    {"encoding", "delimited", false}}},
};

const char *prom_content_type(enum prom_format format)
{
	return media[format].content_type;
}

/* Finds the value of ;name=value or ;name="value" after a media type, or returns NULL. */
static const char *param_find(const char *at, const char *end, const char *name, size_t *ret_len)
{
	size_t name_len = strlen(name), len;

	while (at < end && (at = memchr(at, ';', (size_t)(end - at)))) {
		do
			at++;
		while (at < end && isblank((unsigned char)*at));
		if ((size_t)(end - at) <= name_len || strncasecmp(at, name, name_len) ||
		    at[name_len] != '=')
			continue;
		at += name_len + 1;
		at += at < end && *at == '"';
		for (len = 0; at + len < end && !strchr("\"; \t", at[len]);)
			len++;
		*ret_len = len;
		return at;
	}
	return NULL;
}

static bool params_fit(const struct media *m, const char *params, const char *end)
{
	for (int i = 0; i < NR_PARAMS && m->params[i].name; i++) {
		const struct param *want = &m->params[i];
		const char *got;
		size_t len;

		got = param_find(params, end, want->name, &len);
		if (!got && want->optional)
			continue;
		if (!got || len != strlen(want->value) || strncmp(got, want->value, len))
			return false;
	}
	return true;
}

/* Weight q of a media range in thousandths; 1000 without a valid weight. */
static int weight_of(const char *params, const char *end)
{
	size_t len;
	const char *q = param_find(params, end, "q", &len);

	if (!q || q[0] != '0')
		return 1000;
	return (int)(1000 * fmin(strtod(q, NULL), 1) + 0.5);
}

static bool media_fits(const struct media *m, const char *range, const char *end)
{
	size_t len = strcspn(range, ";, \t");

	return len == strlen(m->type) && !strncasecmp(range, m->type, len) &&
	       params_fit(m, range + len, end);
}

enum prom_format prom_accept(const char *accept, bool protobuf)
{
	int weight[PROM_NR_FORMATS] = {0}, nr = protobuf ? PROM_NR_FORMATS : PROM_PROTOBUF;
	enum prom_format best = PROM_TEXT;

	while (accept && *accept) {
		const char *end = accept + strcspn(accept, ","), *range = accept;

		range += strspn(range, " \t");
		for (int i = 0; i < nr; i++)
			if (media_fits(&media[i], range, end)) {
				int w = weight_of(range, end);

				weight[i] = w > weight[i] ? w : weight[i];
			}
		accept = *end ? end + 1 : end;
	}
	for (int i = 0; i < nr; i++)
		if (weight[i] && weight[i] >= weight[best])
			best = i;
	return best;
}

static void puts_(struct prom *p, const char *str)
{
	prom_put(p, str, strlen(str));
}

/* Formats nanoseconds as seconds without rounding. A double would lose digits above 104 days. */
static size_t format_seconds(char *to, uint64_t ns)
{
	size_t len = put_digits(to, ns / 1000000000);
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
		return put_digits(to, word.u64);
	}
}

static void put_meta(struct prom *p, const char *what, const char *name, const char *suffix,
		     const char *text)
{
	const char *const words[] = {"# ", what, name, suffix, " ", text, "\n"};

	array_for_each(word, words, ARRAY_SIZE(words))
		puts_(p, *word);
}

/* Only OpenMetrics omits suffixes such as _total from the name of a family. */
static void put_head(struct prom *p, const struct family *f)
{
	static const char *const types[] = {[FAMILY_COUNTER] = "counter",
					    [FAMILY_GAUGE] = "gauge",
					    [FAMILY_HISTOGRAM] = "histogram",
					    [FAMILY_INFO] = "info"};
	static const char *const units[UNIT_TABLE + 1] = {
		[UNIT_NS] = "seconds", [UNIT_RATIO] = "ratio", [UNIT_BYTES] = "bytes"};
	bool open = p->format == PROM_OPENMETRICS;
	enum family_type type = f->type == FAMILY_INFO && !open ? FAMILY_GAUGE : f->type;
	const char *suffix = open ? "" : family_suffix(f);

	if (!open)
		put_meta(p, "HELP ", f->name, suffix, f->help);
	put_meta(p, "TYPE ", f->name, suffix, types[type]);
	if (open && units[f->unit])
		put_meta(p, "UNIT ", f->name, "", units[f->unit]);
	if (open)
		put_meta(p, "HELP ", f->name, "", f->help);
}

static void put_labels(struct prom *p, const struct series *s, const struct series_row *row,
		       unsigned int part)
{
	char value[128], *to;

	value[0] = '{';
	if (row->labels) {
		prom_put(p, value, 1);
		prom_put(p, row->labels->data, row->labels->text_len);
		value[0] = ',';
	}
	if (s->nr_parts) {
		to = stpcpy(stpcpy(value + 1, s->part_name), "=\"");
		to = stpcpy(labels_escape(to, s->parts[part]), "\"");
		prom_put(p, value, to - value);
		value[0] = ',';
	}
	if (row->names) {
		prom_put(p, value, 1);
		prom_put(p, row->names->data, row->names->text_len);
	}
	if (value[0] == ',')
		prom_put(p, "}", 1);
}

static void put_line(struct prom *p, const char *head, const struct series *s,
		     const struct series_row *row, unsigned int part, const char *value, size_t len)
{
	char end[40], *to = mempcpy(end + 1, value, len);

	end[0] = ' ';
	*to++ = '\n';
	puts_(p, head);
	put_labels(p, s, row, part);
	prom_put(p, end, to - end);
}

/* Formats a bucket boundary. OpenMetrics requires a float such as "1.0" for one second. */
static void format_le(char *to, uint64_t ns, enum prom_format format)
{
	size_t len = format_seconds(to, ns);

	to[len] = '\0';
	if (format == PROM_OPENMETRICS && !strchr(to, '.'))
		strcpy(to + len, ".0");
}

/* @prefix is the start of each line up to le=", at most sizeof(block) / 2 bytes. */
static void put_buckets(struct prom *p, const char *prefix, size_t len, const union word *words,
			const struct series *s, char (*le)[32])
{
	for (unsigned int i = 0; i <= s->nr_le; i++) {
		char *to;

		if (s->le_hidden >> i & 1)
			continue;
		if (sizeof(p->block) - p->used < len + 32 + 3 + 20 + 1)
			prom_flush(p);
		to = mempcpy(p->block + p->used, prefix, len);
		to = stpcpy(to, i < s->nr_le ? le[i] : "+Inf");
		to = stpcpy(to, "\"} ");
		to += put_digits(to, words[i].u64);
		*to++ = '\n';
		p->used = to - p->block;
	}
}

static void put_histogram(struct prom *p, const struct series *s, const struct series_row *row,
			  char (*le)[32])
{
	const union word *words = &row->words[s->at];
	const char *labels = row->labels ? row->labels->data : "";
	const char *names = row->names ? row->names->data : "";
	char head[128], value[32], *prefix;
	int len = asprintf(&prefix, "%s_bucket{%s%s%s%sle=\"", s->family->name, labels,
			   *names ? "," : "", names, *labels ? "," : "");

	if (len < 0) {
		p->rc = -ENOMEM;
		return;
	}
	if ((size_t)len > sizeof(p->block) / 2)
		p->rc = -EOVERFLOW;
	else
		put_buckets(p, prefix, len, words, s, le);
	free(prefix);
	snprintf(head, sizeof(head), "%s_sum", s->family->name);
	put_line(p, head, s, row, 0, value, format_seconds(value, words[s->nr_le + 1].u64));
	snprintf(head, sizeof(head), "%s_count", s->family->name);
	put_line(p, head, s, row, 0, value, put_digits(value, words[s->nr_le].u64));
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
	char(*le)[32] = NULL, head[128];

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
	array_for_each(row, table->rows, table->nr)
		put_samples(p, s, *row, head, le);
	free(le);
}

int prom_end(struct prom *p)
{
	if (p->format == PROM_OPENMETRICS)
		puts_(p, "# EOF\n");
	prom_flush(p);
	return p->rc;
}
