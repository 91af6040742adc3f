/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gzip for text made of lines that resemble each other, several times as fast as zlib's fastest
 * level and not as small: one pass, the code that the format fixes, the last place of each string.
 */
#ifndef SUBTICK_SERVE_FAST_GZIP_H
#define SUBTICK_SERVE_FAST_GZIP_H

#include <stddef.h>
#include <stdint.h>

#define FAST_GZIP_WINDOW 32768u
#define FAST_GZIP_BLOCK  65536u
#define FAST_GZIP_HASHES 8192u
/* What the beginning, the end and bits not yet written may take besides the text. */
#define FAST_GZIP_SLACK 64u

struct fast_gzip_code {
	uint32_t value; /* in the order in which the bits are written */
	uint32_t bits;
};

struct fast_gzip {
	uint64_t acc; /* bits not yet written */
	unsigned int nr_bits;
	uint32_t crc;
	uint32_t total; /* bytes taken, modulo 2^32 as the format has it */
	uint32_t at;	/* in @text: what is before it has been packed */
	uint32_t base;	/* added to a place in @text: its place in all, so that places stay */
	struct fast_gzip_code literal[256], length[259];
	uint32_t last[FAST_GZIP_HASHES]; /* place + 1 of the last string of that hash, 0 for none */
	unsigned char text[FAST_GZIP_WINDOW + FAST_GZIP_BLOCK + 8];
};

/* Bytes that @len more may become at most, wherever they are put. */
static inline size_t fast_gzip_bound(size_t len)
{
	return len + len / 8 + FAST_GZIP_SLACK;
}

/* Each writes to @out and returns the number of bytes. */
size_t fast_gzip_begin(struct fast_gzip *gz, unsigned char *out);
size_t fast_gzip_add(struct fast_gzip *gz, const void *data, size_t len, unsigned char *out);
size_t fast_gzip_end(struct fast_gzip *gz, unsigned char *out);

#endif
