/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory, compression and reference counts of response bodies. */
#include "serve/http/body.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* minimum length of a match in bytes, which is also the number of bytes that are hashed */
#define MIN_MATCH 6u
#define MAX_MATCH 258u

static uint64_t load64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static uint32_t reverse(uint32_t code, unsigned int bits)
{
	uint32_t turned = 0;

	for (unsigned int i = 0; i < bits; i++)
		turned |= (code >> i & 1) << (bits - 1 - i);
	return turned;
}

/* Fixed Huffman code of a literal or length symbol (RFC 1951, section 3.2.6). */
static struct fast_gzip_code symbol(unsigned int s)
{
	if (s < 144)
		return (struct fast_gzip_code){reverse(0x30 + s, 8), 8};
	if (s < 256)
		return (struct fast_gzip_code){reverse(0x190 + s - 144, 9), 9};
	if (s < 280)
		return (struct fast_gzip_code){reverse(s - 256, 7), 7};
	return (struct fast_gzip_code){reverse(0xc0 + s - 280, 8), 8};
}

/* Code of a match length with its extra bits (RFC 1951, section 3.2.5). */
static struct fast_gzip_code length_code(unsigned int length)
{
	unsigned int l = length - 3, extra = 0;
	struct fast_gzip_code code;

	if (length == MAX_MATCH)
		return symbol(285);
	if (l >= 8)
		extra = 31 - __builtin_clz(l) - 2;
	code = symbol(257 + 4 * extra + (l >> extra));
	code.value |= (l & ((1u << extra) - 1)) << code.bits;
	code.bits += extra;
	return code;
}

static struct fast_gzip_code distance_code(unsigned int distance)
{
	unsigned int d = distance - 1, extra = 0;
	struct fast_gzip_code code = {.bits = 5};

	if (d >= 4)
		extra = 31 - __builtin_clz(d) - 1;
	code.value = reverse(2 * extra + (d >> extra), 5) | (d & ((1u << extra) - 1)) << 5;
	code.bits += extra;
	return code;
}

/*
 * Appends at most 32 bits to the accumulator, which must have fewer than 32 bits before the call.
 * put() must be inlined: for a function that takes the address of a local variable, the address
 * sanitizer of gcc 12 needs 20 us per call.
 */
static inline __attribute__((always_inline)) unsigned char *
put(struct fast_gzip *gz, unsigned char *out, struct fast_gzip_code code)
{
	gz->acc |= (uint64_t)code.value << gz->nr_bits;
	gz->nr_bits += code.bits;
	if (gz->nr_bits >= 32) {
		uint32_t full = htole32((uint32_t)gz->acc);

		memcpy(out, &full, sizeof(full));
		out += sizeof(full);
		gz->acc >>= 32;
		gz->nr_bits -= 32;
	}
	return out;
}

static unsigned char *put_match(struct fast_gzip *gz, unsigned char *out, uint32_t length,
				uint32_t distance)
{
	struct fast_gzip_code where = distance_code(distance);

	while (length) {
		/* The last part of a split match needs 3 bytes, the shortest match in DEFLATE. */
		uint32_t now = length > MAX_MATCH && length < MAX_MATCH + 3 ? length - 3 : length;

		now = now > MAX_MATCH ? MAX_MATCH : now;
		out = put(gz, out, gz->length[now]);
		out = put(gz, out, where);
		length -= now;
	}
	return out;
}

static uint32_t *place(struct fast_gzip *gz, uint32_t at)
{
	uint64_t six = load64(gz->text + at) << 16;

	return &gz->last[six * 0x9e3779b97f4a7c15ULL >> 51];
}

static uint32_t same(const unsigned char *a, const unsigned char *b, uint32_t most)
{
	uint32_t length = 0;

	for (; length + 8 <= most; length += 8) {
		uint64_t differ = load64(a + length) ^ load64(b + length);

		if (differ)
			return length + __builtin_ctzll(differ) / 8;
	}
	while (length < most && a[length] == b[length])
		length++;
	return length;
}

/*
 * Compresses the text before @end. The last bytes of the text are written as literals, because a
 * match needs MIN_MATCH bytes.
 */
static unsigned char *compress_until(struct fast_gzip *gz, uint32_t end, unsigned char *out)
{
	while (gz->at < end) {
		uint32_t at = gz->at, length = 0, distance = 0;

		if (end - at >= MIN_MATCH) {
			uint32_t *slot = place(gz, at), found = *slot;

			*slot = gz->base + at + 1;
			distance = gz->base + at + 1 - found;
			/* A match must be inside the text buffer and inside the DEFLATE window. */
			if (found && distance <= FAST_GZIP_WINDOW && distance <= at)
				length =
					same(gz->text + at - distance, gz->text + at, end - at);
		}
		if (length < MIN_MATCH) {
			out = put(gz, out, gz->literal[gz->text[at]]);
			gz->at++;
			continue;
		}
		/* Also hash the next two positions of a long match, to find more matches later. */
		if (length > MIN_MATCH + 2) {
			*place(gz, at + 1) = gz->base + at + 2;
			*place(gz, at + 2) = gz->base + at + 3;
		}
		out = put_match(gz, out, length, distance);
		gz->at += length;
	}
	return out;
}

size_t fast_gzip_begin(struct fast_gzip *gz, unsigned char *out)
{
	static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255};

	for (unsigned int i = 0; i < 256; i++)
		gz->literal[i] = symbol(i);
	for (unsigned int i = 3; i <= MAX_MATCH; i++)
		gz->length[i] = length_code(i);
	gz->at = gz->base = gz->total = 0;
	/* gz->text needs no initialization, because it is written before the first read. */
	memset(gz->last, 0, sizeof(gz->last));
	gz->crc = crc32(0, NULL, 0);
	memcpy(out, head, sizeof(head));
	/* Header of the only DEFLATE block, with the fixed Huffman codes. */
	gz->acc = 3;
	gz->nr_bits = 3;
	return sizeof(head);
}

size_t fast_gzip_add(struct fast_gzip *gz, const void *data, size_t len, unsigned char *out)
{
	const unsigned char *from = data, *start = out;

	gz->crc = crc32(gz->crc, data, len);
	gz->total += len;
	while (len) {
		size_t fits = sizeof(gz->text) - 8 - gz->at;

		if (!fits) {
			uint32_t gone = gz->at - FAST_GZIP_WINDOW;

			memmove(gz->text, gz->text + gone, FAST_GZIP_WINDOW);
			gz->base += gone;
			gz->at = FAST_GZIP_WINDOW;
			continue;
		}
		fits = fits < len ? fits : len;
		memcpy(gz->text + gz->at, from, fits);
		out = compress_until(gz, gz->at + fits, out);
		from += fits;
		len -= fits;
	}
	return out - start;
}

size_t fast_gzip_end(struct fast_gzip *gz, unsigned char *out)
{
	unsigned char *start = out;

	out = put(gz, out, symbol(256));
	while (gz->nr_bits) {
		*out++ = gz->acc;
		gz->acc >>= 8;
		gz->nr_bits -= gz->nr_bits < 8 ? gz->nr_bits : 8;
	}
	out = mempcpy(out, (uint32_t[]){htole32(gz->crc), htole32(gz->total)}, 8);
	return out - start;
}

static size_t total;
size_t body_total(void)
{
	return total;
}

struct body *body_new(bool gzip, size_t room)
{
	struct body *body = calloc(1, sizeof(*body));

	if (!body)
		return NULL;
	body->refs = 1;
	body->room = room < 256 ? 256 : room;
	body->data = malloc(body->room);
	body->gzip = gzip;
	body->gz = gzip ? malloc(sizeof(*body->gz)) : NULL;
	if (!body->data || (gzip && !body->gz)) {
		body->room = 0;
		body_put(body);
		return NULL;
	}
	if (gzip)
		body->len = fast_gzip_begin(body->gz, (unsigned char *)body->data);
	total += body->room;
	return body;
}

void body_put(struct body *body)
{
	if (!body || --body->refs)
		return;
	total -= body->room;
	free(body->gz);
	if (!body->borrowed)
		free(body->data);
	free(body);
}

struct body *body_wrap(const void *data, size_t len)
{
	struct body *body = calloc(1, sizeof(*body));

	if (body)
		*body = (struct body){
			.refs = 1, .data = (char *)data, .len = len, .borrowed = true};
	return body;
}

static bool make_room(struct body *body, size_t want)
{
	size_t room = body->room;
	char *data;

	if (body->failed)
		return false;
	while (room - body->len < want)
		room += room / 2;
	if (room == body->room)
		return true;
	data = realloc(body->data, room);
	if (!data) {
		body->failed = true;
		return false;
	}
	total += room - body->room;
	body->data = data;
	body->room = room;
	return true;
}

void body_append(struct body *body, const void *data, size_t len)
{
	if (!make_room(body, body->gzip ? fast_gzip_bound(len) : len))
		return;
	if (body->gzip) {
		body->len +=
			fast_gzip_add(body->gz, data, len, (unsigned char *)body->data + body->len);
		return;
	}
	memcpy(body->data + body->len, data, len);
	body->len += len;
}

struct body *body_finish(struct body *body)
{
	size_t room;
	char *exact;

	if (!body)
		return NULL;
	if (body->gzip && make_room(body, FAST_GZIP_SLACK))
		body->len += fast_gzip_end(body->gz, (unsigned char *)body->data + body->len);
	free(body->gz);
	body->gz = NULL;
	if (body->failed) {
		body_put(body);
		return NULL;
	}
	room = body->len ? body->len : 1;
	exact = realloc(body->data, room);
	if (exact) {
		body->data = exact;
		total -= body->room - room;
		body->room = room;
	}
	return body;
}

struct body *body_of(bool gzip, const void *data, size_t len)
{
	struct body *body = body_new(gzip, gzip ? len / 8 : len);

	if (body)
		body_append(body, data, len);
	return body_finish(body);
}
