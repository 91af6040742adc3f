/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodes protobuf by hand: a message is a sequence of fields, each a key (number and kind) and a
 * value: a varint, 8 bytes, or a length and bytes. The numbers are those of
 * io/prometheus/client/metrics.proto of prometheus/client_model.
 */
#include "view/prom_proto.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_VARINT, KIND_DOUBLE, KIND_BYTES };
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

/* So many empty buckets cost less than a span of their own behind them. */
#define MAX_GAP	   2
#define MAX_VARINT 10

/* A message in memory: one row, or the head of a family. */
struct msg {
	char *data;
	size_t len, room;
	bool failed; /* out of memory; sticky */
};

static char *msg_room(struct msg *m, size_t len)
{
	if (m->room - m->len < len && !m->failed) {
		size_t room = 2 * m->room + len;
		char *data = reallocarray(m->data, room, 1);

		if (data) {
			m->data = data;
			m->room = room;
		}
		m->failed = !data;
	}
	return m->failed ? NULL : m->data + m->len;
}

static void msg_put(struct msg *m, const void *data, size_t len)
{
	char *to = msg_room(m, len);

	if (!to)
		return;
	memcpy(to, data, len);
	m->len += len;
}

static size_t format_varint(char to[MAX_VARINT], uint64_t value)
{
	size_t len = 0;

	for (; value >= 0x80; value >>= 7)
		to[len++] = (char)(value | 0x80);
	to[len++] = (char)value;
	return len;
}

static void put_varint(struct msg *m, uint64_t value)
{
	char bytes[MAX_VARINT];

	msg_put(m, bytes, format_varint(bytes, value));
}

static void put_u64(struct msg *m, unsigned int field, uint64_t value)
{
	put_varint(m, field << 3 | KIND_VARINT);
	put_varint(m, value);
}

/* Signed numbers are 0, -1, 1, -2, … */
static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static void put_double(struct msg *m, unsigned int field, double value)
{
	uint64_t bits;
	char bytes[8];

	memcpy(&bits, &value, sizeof(bits));
	for (int i = 0; i < 8; i++)
		bytes[i] = (char)(bits >> 8 * i);
	put_varint(m, field << 3 | KIND_DOUBLE);
	msg_put(m, bytes, sizeof(bytes));
}

static void put_str(struct msg *m, unsigned int field, const char *str)
{
	put_varint(m, field << 3 | KIND_BYTES);
	put_varint(m, strlen(str));
	msg_put(m, str, strlen(str));
}

/* What was put since the message had @begin bytes becomes a field: its key and length go before it. */
static void close_field(struct msg *m, unsigned int field, size_t begin)
{
	char head[2 * MAX_VARINT];
	size_t len = m->len - begin, head_len;

	head_len = format_varint(head, field << 3 | KIND_BYTES);
	head_len += format_varint(head + head_len, len);
	if (!msg_room(m, head_len))
		return;
	memmove(m->data + begin + head_len, m->data + begin, len);
	memcpy(m->data + begin, head, head_len);
	m->len += head_len;
}

/* Pairs as prom_labels() makes them: name="value", escaped, with commas between them and before. */
static void put_labels(struct msg *m, const char *labels)
{
	while (*labels) {
		size_t pair = m->len, begin;
		size_t name_len;

		labels += *labels == ',';
		name_len = strcspn(labels, "=");
		put_varint(m, PAIR_NAME << 3 | KIND_BYTES);
		put_varint(m, name_len);
		msg_put(m, labels, name_len);
		labels += name_len + 2;
		begin = m->len;
		for (; *labels != '"'; labels++) {
			bool escaped = *labels == '\\';

			labels += escaped;
			msg_put(m, escaped && *labels == 'n' ? "\n" : labels, 1);
		}
		labels++;
		close_field(m, PAIR_VALUE, begin);
		close_field(m, METRIC_LABEL, pair);
	}
}

/*
 * The nearest double, as a reader of the text gets it. Above 2^53 ns, 104 days, the nanoseconds are
 * no double; the sum is rounded once, since the fraction is far more exact than the sum can be.
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

/* The zero bucket is 0, that of index first is 1. */
static uint64_t native_count(const struct series *s, const union word *words, unsigned int i)
{
	if (s->native.at)
		return words[s->native.at + i].u64;
	/* The word behind the boundaries is the count of all. */
	return i ? words[i].u64 - words[i - 1].u64 : words[0].u64;
}

/* The next bucket from @from on that is not empty; one behind the last if there is none. */
static unsigned int native_next(const struct series *s, const union word *words, unsigned int from)
{
	while (from <= s->native.nr && !native_count(s, words, from))
		from++;
	return from;
}

/* Where a run of buckets ends: behind its last one before a gap. */
static unsigned int span_end(const struct series *s, const union word *words, unsigned int begin)
{
	unsigned int end = begin, next = begin;

	while (next <= s->native.nr && next - end <= MAX_GAP) {
		end = next + 1;
		next = native_next(s, words, end);
	}
	return end;
}

/* The offset of the first span is its index, that of others the distance from the one before. */
static void put_spans(struct msg *m, const struct series *s, const union word *words)
{
	int expected = 1 - s->native.first;
	unsigned int begin = native_next(s, words, 1), end;

	for (; begin <= s->native.nr; begin = native_next(s, words, end)) {
		size_t span = m->len;

		end = span_end(s, words, begin);
		put_u64(m, SPAN_OFFSET, zigzag((int)begin - expected));
		put_u64(m, SPAN_LENGTH, end - begin);
		close_field(m, HISTOGRAM_SPAN, span);
		expected = (int)end;
	}
}

/* The counts of the same buckets, each minus the one before. */
static void put_deltas(struct msg *m, const struct series *s, const union word *words)
{
	unsigned int begin = native_next(s, words, 1), end;
	size_t deltas = m->len;
	uint64_t was = 0;

	for (; begin <= s->native.nr; begin = native_next(s, words, end)) {
		end = span_end(s, words, begin);
		for (unsigned int i = begin; i < end; i++) {
			uint64_t count = native_count(s, words, i);

			put_varint(m, zigzag((int64_t)(count - was)));
			was = count;
		}
	}
	if (m->len > deltas)
		close_field(m, HISTOGRAM_DELTA, deltas);
}

static void put_native(struct msg *m, const struct series *s, const union word *words)
{
	put_u64(m, HISTOGRAM_SCHEMA, zigzag(s->native.schema));
	put_double(m, HISTOGRAM_ZERO_THRESHOLD,
		   ldexp(1.0, (s->native.first - 1) / (1 << s->native.schema)));
	put_u64(m, HISTOGRAM_ZERO_COUNT, native_count(s, words, 0));
	put_spans(m, s, words);
	put_deltas(m, s, words);
}

static void put_histogram(struct msg *m, const struct series *s, const union word *words)
{
	put_u64(m, HISTOGRAM_COUNT, words[s->nr_le].u64);
	put_double(m, HISTOGRAM_SUM, seconds(words[s->nr_le + 1].u64));
	/* That of +Inf is the count. */
	for (unsigned int i = 0; i < s->nr_le; i++) {
		size_t bucket = m->len;

		put_u64(m, BUCKET_COUNT, words[i].u64);
		put_double(m, BUCKET_LE, seconds(s->le_ns[i]));
		close_field(m, HISTOGRAM_BUCKET, bucket);
	}
	if (s->native.nr)
		put_native(m, s, words);
}

static void put_row(struct msg *m, const struct series *s, size_t row)
{
	const union word *words = series_words(s, row);
	size_t begin;

	m->len = 0;
	put_labels(m, s->labels[row]);
	put_labels(m, series_more(s->labels[row]));
	begin = m->len;
	if (s->family->type == FAMILY_HISTOGRAM) {
		put_histogram(m, s, words);
		close_field(m, METRIC_HISTOGRAM, begin);
	} else {
		put_double(m, VALUE, value_of(s->family, *words));
		close_field(m, s->family->type == FAMILY_COUNTER ? METRIC_COUNTER : METRIC_GAUGE,
			    begin);
	}
	close_field(m, FAMILY_METRIC, 0);
}

static void put_head(struct msg *m, const struct family *f)
{
	size_t name = m->len;

	msg_put(m, f->name, strlen(f->name));
	msg_put(m, family_suffix(f), strlen(family_suffix(f)));
	close_field(m, FAMILY_NAME, name);
	put_str(m, FAMILY_HELP, f->help);
	put_u64(m, FAMILY_KIND,
		f->type == FAMILY_COUNTER     ? TYPE_COUNTER
		: f->type == FAMILY_HISTOGRAM ? TYPE_HISTOGRAM
					      : TYPE_GAUGE);
}

void prom_proto_write(struct prom *p, const struct series *s)
{
	struct msg head = {0}, row = {0};
	char bytes[MAX_VARINT];
	size_t len;

	put_head(&head, s->family);
	len = head.len;
	for (size_t i = 0; i < s->nr && !row.failed; i++) {
		put_row(&row, s, i);
		len += row.len;
	}
	if (!head.failed && !row.failed) {
		prom_put(p, bytes, format_varint(bytes, len));
		prom_put(p, head.data, head.len);
	}
	for (size_t i = 0; i < s->nr && !row.failed && !head.failed && !p->rc; i++) {
		put_row(&row, s, i);
		prom_put(p, row.data, row.len);
	}
	if (head.failed || row.failed)
		p->rc = -ENOMEM;
	free(head.data);
	free(row.data);
}
