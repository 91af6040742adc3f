/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes metrics as protobuf, with the field numbers of prometheus/client_model metrics.proto. */
#include "view/prom.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/proto.h"

enum { TYPE_COUNTER = 0, TYPE_GAUGE = 1, TYPE_HISTOGRAM = 4 };
enum { FAMILY_NAME = 1, FAMILY_HELP, FAMILY_KIND, FAMILY_METRIC };
enum { METRIC_LABEL = 1, METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM = 7 };
enum { PAIR_NAME = 1, PAIR_VALUE };
enum { VALUE = 1 };
enum {
	HISTOGRAM_COUNT = 1,
	HISTOGRAM_SUM,
	HISTOGRAM_BUCKET,
	HISTOGRAM_SCHEMA = 5,
	HISTOGRAM_ZERO_THRESHOLD,
	HISTOGRAM_ZERO_COUNT,
	HISTOGRAM_SPAN = 12,
	HISTOGRAM_DELTA,
};
enum { BUCKET_COUNT = 1, BUCKET_LE };
enum { SPAN_OFFSET = 1, SPAN_LENGTH };

/* Maximum gap of empty buckets in a span. A larger gap takes more bytes than a new span. */
#define MAX_GAP 2

/* Protobuf zigzag encoding of signed numbers: 0, -1, 1, -2, … become 0, 1, 2, 3, … */
static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static void put_double(struct proto_msg *m, unsigned int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bits = htole64(bits);
	proto_varint(m, field << 3 | PROTO_DOUBLE);
	proto_bytes(m, &bits, sizeof(bits));
}

static void put_label(struct proto_msg *m, const char *name, const char *value)
{
	size_t pair = m->len;

	proto_str(m, PAIR_NAME, name);
	proto_str(m, PAIR_VALUE, value);
	proto_close(m, METRIC_LABEL, pair);
}

static void put_labels(struct proto_msg *m, const struct labels *labels)
{
	for (const char *name = labels_first(labels); *name; name = labels_next(labels_next(name)))
		put_label(m, name, labels_next(name));
}

/*
 * Converts ns to the double that a parser of the text format computes. A double holds at most 2^53
 * ns (104 days) exactly. Above 2^53 ns, only the final addition loses digits.
 */
static double seconds(uint64_t ns)
{
	if (ns < 1ULL << 53)
		return (double)ns / 1e9;
	return (double)(ns / 1000000000) + (double)(ns % 1000000000) / 1e9;
}

static double value_of(const struct family *family, union word word)
{
	switch (family->unit) {
	case UNIT_NS:
		return seconds(word.u64);
	case UNIT_RATIO:
		return word.f64;
	default:
		return (double)word.u64;
	}
}

/* Count of native bucket @i. Bucket 0 is the zero bucket. Bucket 1 has the index native.first. */
static uint64_t native_count(const struct series *s, const union word *words, unsigned int i)
{
	if (s->native.at)
		return words[s->native.at + i].u64;
	/* The sample of a histogram begins with the cumulative count of each boundary. */
	return i ? words[i].u64 - words[i - 1].u64 : words[0].u64;
}

/* Returns the first nonempty bucket at or after @from, or nr + 1 if there is none. */
static unsigned int native_next(const struct series *s, const union word *words, unsigned int from)
{
	while (from <= s->native.nr && !native_count(s, words, from))
		from++;
	return from;
}

/* Returns the end of a span: the index after its last nonempty bucket. */
static unsigned int span_end(const struct series *s, const union word *words, unsigned int begin)
{
	unsigned int end = begin, next = begin;

	while (next <= s->native.nr && next - end <= MAX_GAP) {
		end = next + 1;
		next = native_next(s, words, end);
	}
	return end;
}

/*
 * The offset of the first span is the index of its first bucket. The offset of a later span is the
 * number of buckets between the previous span and this span.
 */
static void put_spans(struct proto_msg *m, const struct series *s, const union word *words)
{
	int expected = 1 - s->native.first;
	unsigned int begin = native_next(s, words, 1), end;

	for (; begin <= s->native.nr; begin = native_next(s, words, end)) {
		size_t span = m->len;

		end = span_end(s, words, begin);
		proto_u64(m, SPAN_OFFSET, zigzag((int)begin - expected));
		proto_u64(m, SPAN_LENGTH, end - begin);
		proto_close(m, HISTOGRAM_SPAN, span);
		expected = (int)end;
	}
}

/* Writes the bucket counts of all spans, each as the difference from the previous count. */
static void put_deltas(struct proto_msg *m, const struct series *s, const union word *words)
{
	unsigned int begin = native_next(s, words, 1), end;
	size_t deltas = m->len;
	uint64_t was = 0;

	for (; begin <= s->native.nr; begin = native_next(s, words, end)) {
		end = span_end(s, words, begin);
		for (unsigned int i = begin; i < end; i++) {
			uint64_t count = native_count(s, words, i);

			proto_varint(m, zigzag((int64_t)(count - was)));
			was = count;
		}
	}
	if (m->len > deltas)
		proto_close(m, HISTOGRAM_DELTA, deltas);
}

static void put_native(struct proto_msg *m, const struct series *s, const union word *words)
{
	proto_u64(m, HISTOGRAM_SCHEMA, zigzag(s->native.schema));
	put_double(m, HISTOGRAM_ZERO_THRESHOLD,
		   ldexp(1.0, (s->native.first - 1) / (1 << s->native.schema)));
	proto_u64(m, HISTOGRAM_ZERO_COUNT, native_count(s, words, 0));
	put_spans(m, s, words);
	put_deltas(m, s, words);
}

static void put_histogram(struct proto_msg *m, const struct series *s, const union word *words)
{
	proto_u64(m, HISTOGRAM_COUNT, words[s->nr_le].u64);
	put_double(m, HISTOGRAM_SUM, seconds(words[s->nr_le + 1].u64));
	/* Omit the bucket +Inf, which is equal to the total count. */
	for (unsigned int i = 0; i < s->nr_le; i++) {
		size_t bucket = m->len;

		if (s->le_hidden >> i & 1)
			continue;
		proto_u64(m, BUCKET_COUNT, words[i].u64);
		put_double(m, BUCKET_LE, seconds(s->le_ns[i]));
		proto_close(m, HISTOGRAM_BUCKET, bucket);
	}
	if (s->native.nr)
		put_native(m, s, words);
}

static void put_sample(struct proto_msg *m, const struct series *s, const struct series_row *row,
		       unsigned int part)
{
	const union word *words = &row->words[s->at + part];
	size_t metric = m->len, begin;

	put_labels(m, row->labels);
	if (s->nr_parts)
		put_label(m, s->part_name, s->parts[part]);
	put_labels(m, row->names);
	begin = m->len;
	if (s->family->type == FAMILY_HISTOGRAM) {
		put_histogram(m, s, words);
		proto_close(m, METRIC_HISTOGRAM, begin);
	} else {
		put_double(m, VALUE, value_of(s->family, *words));
		proto_close(m, s->family->type == FAMILY_COUNTER ? METRIC_COUNTER : METRIC_GAUGE,
			    begin);
	}
	proto_close(m, FAMILY_METRIC, metric);
}

static void put_row(struct proto_msg *m, const struct series *s, const struct series_row *row)
{
	m->len = 0;
	for (unsigned int part = 0; part < series_parts(s); part++)
		if (series_shows(s, row, part))
			put_sample(m, s, row, part);
}

static void put_head(struct proto_msg *m, const struct family *f)
{
	size_t name = m->len;

	proto_bytes(m, f->name, strlen(f->name));
	proto_bytes(m, family_suffix(f), strlen(family_suffix(f)));
	proto_close(m, FAMILY_NAME, name);
	proto_str(m, FAMILY_HELP, f->help);
	proto_u64(m, FAMILY_KIND,
		f->type == FAMILY_COUNTER     ? TYPE_COUNTER
		: f->type == FAMILY_HISTOGRAM ? TYPE_HISTOGRAM
					      : TYPE_GAUGE);
}

void prom_proto_write(struct prom *p, const struct series *s, const struct series_table *table)
{
	struct proto_msg head = {0}, row = {0};
	char bytes[PROTO_MAX_VARINT];
	size_t len;

	put_head(&head, s->family);
	len = head.len;
	for (size_t i = 0; i < table->nr && !row.failed; i++) {
		put_row(&row, s, table->rows[i]);
		len += row.len;
	}
	if (!head.failed && !row.failed) {
		prom_put(p, bytes, proto_format_varint(bytes, len));
		prom_put(p, head.data, head.len);
	}
	for (size_t i = 0; i < table->nr && !row.failed && !head.failed && !p->rc; i++) {
		put_row(&row, s, table->rows[i]);
		prom_put(p, row.data, row.len);
	}
	if (head.failed || row.failed)
		p->rc = -ENOMEM;
	free(head.data);
	free(row.data);
}
