/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gzip for text made of lines that resemble each other, several times as fast as zlib's fastest
 * level and not as small: one pass, the code that the format fixes, the last place of each string.
 */
#ifndef SUBTICK_SERVE_PACK_H
#define SUBTICK_SERVE_PACK_H

#include <stddef.h>
#include <stdint.h>

#define PACK_WINDOW 32768u
#define PACK_BLOCK  65536u
#define PACK_HASHES 8192u
/* What the beginning, the end and bits not yet written may take besides the text. */
#define PACK_SLACK 64u

struct pack_code {
	uint32_t value; /* in the order in which the bits are written */
	uint32_t bits;
};

struct pack {
	uint64_t acc; /* bits not yet written */
	unsigned int nr_bits;
	uint32_t crc;
	uint32_t total; /* bytes taken, modulo 2^32 as the format has it */
	uint32_t at;	/* in @text: what is before it has been packed */
	uint32_t base;	/* added to a place in @text: its place in all, so that places stay */
	struct pack_code literal[256], length[259];
	uint32_t last[PACK_HASHES]; /* place + 1 of the last string of that hash, 0 for none */
	unsigned char text[PACK_WINDOW + PACK_BLOCK + 8];
};

/* Bytes that @len more may become at most, wherever they are put. */
static inline size_t pack_bound(size_t len)
{
	return len + len / 8 + PACK_SLACK;
}

/* Each writes to @out and returns the number of bytes. */
size_t pack_begin(struct pack *pack, unsigned char *out);
size_t pack_add(struct pack *pack, const void *data, size_t len, unsigned char *out);
size_t pack_end(struct pack *pack, unsigned char *out);

#endif
