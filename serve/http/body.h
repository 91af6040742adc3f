/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Response bodies: built once, shared by all clients, optionally compressed. */
#ifndef SUBTICK_SERVE_BODY_H
#define SUBTICK_SERVE_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAST_GZIP_WINDOW 32768u
#define FAST_GZIP_BLOCK  65536u
#define FAST_GZIP_HASHES 8192u
/* Maximum number of bytes for the gzip header, the gzip trailer and the bits in the accumulator. */
#define FAST_GZIP_SLACK 64u

struct fast_gzip_code {
	uint32_t value; /* bits of the Huffman code; the lowest bit is written first */
	uint32_t bits;
};

struct fast_gzip {
	uint64_t acc; /* accumulator with the output bits that are not yet written */
	unsigned int nr_bits;
	uint32_t crc;
	uint32_t total; /* number of input bytes, modulo 2^32 as in the gzip trailer */
	uint32_t at;	/* index into @text; all text before this index is compressed */
	uint32_t base;	/* position of text[0] in the input */
	struct fast_gzip_code literal[256], length[259];
	/* for each hash value: position of the last string with this hash plus 1, or 0 */
	uint32_t last[FAST_GZIP_HASHES];
	unsigned char text[FAST_GZIP_WINDOW + FAST_GZIP_BLOCK + 8];
};

/* Returns the maximum size of the gzip output for @len bytes of input. */
static inline size_t fast_gzip_bound(size_t len)
{
	return len + len / 8 + FAST_GZIP_SLACK;
}

/* Begin, continue and end a gzip member. Return the number of bytes written to @out. */
size_t fast_gzip_begin(struct fast_gzip *gz, unsigned char *out);
size_t fast_gzip_add(struct fast_gzip *gz, const void *data, size_t len, unsigned char *out);
size_t fast_gzip_end(struct fast_gzip *gz, unsigned char *out);

struct body {
	/* reference count; not atomic, because only the event loop's thread uses bodies */
	unsigned int refs;
	char *data;
	size_t len, room;
	bool gzip;
	/* compressor; NULL if the body is not compressed, and after body_finish() */
	struct fast_gzip *gz;
	bool failed;	      /* true after an allocation for the body failed; never reset */
	bool borrowed;	      /* true if @data is a constant of the program */
};

/* Returns the total size in bytes of all response bodies in memory. */
size_t body_total(void);

/* Creates a body with one reference, for about @room bytes. Returns NULL if out of memory. */
struct body *body_new(bool gzip, size_t room);
/* Creates a body of constant data, which is neither copied nor counted in body_total(). */
struct body *body_wrap(const void *data, size_t len);
void body_put(struct body *body);
void body_append(struct body *body, const void *data, size_t len);
/* Completes @body. If any allocation for the body failed, releases @body and returns NULL. */
struct body *body_finish(struct body *body);
/* Creates a complete body with a copy of @data. Returns NULL if out of memory. */
struct body *body_of(bool gzip, const void *data, size_t len);

#endif
