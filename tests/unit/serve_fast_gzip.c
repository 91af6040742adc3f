/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that compressed texts decompress to the same texts. The compressor gets each text in pieces
 * of any size, and is reused for the next text.
 */
#include "serve/http/body.h"

#include <zlib.h>

#include "test.h"

#define SIZE (700 * 1024)

static uint32_t seed = 1;

static uint32_t draw(void)
{
	return (seed = seed * 1664525 + 1013904223) >> 8;
}

static size_t pack_all(const unsigned char *text, size_t len, size_t piece, unsigned char *out)
{
	static struct fast_gzip all, *gzip = &all;
	size_t used;

	used = fast_gzip_begin(gzip, out);
	for (size_t at = 0; at < len; at += piece) {
		size_t now = len - at < piece ? len - at : piece;
		size_t got = fast_gzip_add(gzip, text + at, now, out + used);

		assert_true(got <= fast_gzip_bound(now));
		used += got;
	}
	used += fast_gzip_end(gzip, out + used);
	return used;
}

static void check(const unsigned char *text, size_t len, size_t piece)
{
	unsigned char *out = test_malloc(len + len / 8 + (len / piece + 3) * FAST_GZIP_SLACK);
	unsigned char *back = test_malloc(len + 1);
	z_stream z = {0};

	z.next_in = out;
	z.avail_in = pack_all(text, len, piece, out);
	z.next_out = back;
	z.avail_out = len + 1;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.total_out, len);
	assert_memory_equal(back, text, len);
	inflateEnd(&z);
	test_free(out);
	test_free(back);
}

static void check_pieces(const unsigned char *text, size_t len)
{
	static const size_t pieces[] = {7, 300, 4096, 65536, 65537, SIZE};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		check(text, len, pieces[i]);
}

TEST(test_texts)
{
	unsigned char *text = test_malloc(SIZE);
	size_t len = 0;

	check_pieces(text, 0);
	for (size_t i = 0; i < SIZE; i++)
		text[i] = draw();
	check_pieces(text, SIZE);
	for (size_t i = 1; i < 20; i++)
		check(text, i, SIZE);
	memset(text, 'x', SIZE);
	check_pieces(text, SIZE);
	while (len < SIZE - 200)
		len += sprintf((char *)text + len,
			       "name_bucket{cgroup=\"/pod%u\",le=\"0.%u\"} %u\n",
			       (unsigned int)(len / 2000), draw() % 20, draw() % 1000);
	check_pieces(text, len);
	test_free(text);
}

/* Tests match lengths and distances around the limits of each deflate code. */
TEST(test_matches)
{
	unsigned char *text = test_malloc(SIZE);

	for (unsigned int distance = 1; distance <= 40000; distance += 1 + distance / 16)
		for (unsigned int length = 5; length < 1100; length = length * 4 / 3 + 1) {
			size_t len = distance + length;

			for (size_t i = 0; i < distance; i++)
				text[i] = draw();
			for (size_t i = distance; i < len; i++)
				text[i] = text[i - distance];
			text[len++] = draw();
			check(text, len, SIZE);
		}
	for (unsigned int length = 1; length < 800; length++) {
		memset(text, 'x', length);
		check(text, length, length % 7 ? length : 1);
	}
	for (unsigned int distance = 32766; distance < 32771; distance++) {
		for (size_t i = 0; i < SIZE; i++)
			text[i] = i < distance ? draw() : text[i - distance];
		check(text, SIZE, 65536);
	}
	test_free(text);
}

/* A page of metrics compresses to less than a tenth of its size. */
TEST(test_small)
{
	unsigned char *text = test_malloc(SIZE), *out = test_malloc(2 * SIZE);
	size_t len = 0;

	for (unsigned int i = 0; len < SIZE - 300; i++)
		len += sprintf((char *)text + len,
			       "subtick_runqueue_latency_seconds_bucket{cgroup=\"/kubepods.slice/"
			       "kubepods-pod%08x.slice\",le=\"0.000%u\"} %u\n",
			       i / 16 * 2654435761u, i % 16 * 3, draw() % 1000);
	assert_true(pack_all(text, len, 65536, out) < len / 10);
	test_free(text);
	test_free(out);
}

TEST_MAIN()
