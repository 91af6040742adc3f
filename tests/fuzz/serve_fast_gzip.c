/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target for the exporter's compression. zlib must decompress the output to the input. The
 * output for a piece of the input must not be longer than fast_gzip_bound() returns.
 */
#include "fuzz.h"

#include <zlib.h>

#include "../serve/http/body.h"

/*
 * Compresses the input several times, in pieces. The first byte of the input selects the size of
 * the pieces. The length of the input selects how many times the input is compressed.
 */
static void fuzz_pack(const char *text, size_t len)
{
	size_t piece = len ? 1 + (unsigned char)text[0] * 7 : 1, rounds = 1 + len % 40;
	size_t room = rounds * (fast_gzip_bound(len) + (len / piece + 1) * FAST_GZIP_SLACK) + 2 * FAST_GZIP_SLACK;
	unsigned char *out = malloc(room), *back = malloc(rounds * len + 1);
	static struct fast_gzip all, *gzip = &all;
	z_stream z = {0};
	size_t used;

	FUZZ_CHECK(out && back);
	used = fast_gzip_begin(gzip, out);
	for (size_t round = 0; round < rounds; round++)
		for (size_t at = 0; at < len; at += piece) {
			size_t now = len - at < piece ? len - at : piece;
			size_t got = fast_gzip_add(gzip, text + at, now, out + used);

			FUZZ_CHECK(got <= fast_gzip_bound(now));
			used += got;
		}
	used += fast_gzip_end(gzip, out + used);
	z.next_in = out;
	z.avail_in = used;
	z.next_out = back;
	z.avail_out = rounds * len + 1;
	FUZZ_CHECK(inflateInit2(&z, 15 + 16) == Z_OK);
	FUZZ_CHECK(inflate(&z, Z_FINISH) == Z_STREAM_END);
	FUZZ_CHECK(!z.avail_in && z.total_out == rounds * len);
	for (size_t round = 0; len && round < rounds; round++)
		FUZZ_CHECK(!memcmp(back + round * len, text, len));
	inflateEnd(&z);
	free(back);
	free(out);
}

FUZZ_BYTES(fuzz_pack)
