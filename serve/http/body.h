/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The body of a response: made once, shared by all requests for the same, optionally compressed. */
#ifndef SUBTICK_SERVE_BODY_H
#define SUBTICK_SERVE_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAST_GZIP_WINDOW 32768u
#define FAST_GZIP_BLOCK  65536u
#define FAST_GZIP_HASHES 8192u
/* Room for the header, the trailer and bits not yet written. */
#define FAST_GZIP_SLACK 64u

struct fast_gzip_code {
	uint32_t value; /* in the order in which the bits are written */
	uint32_t bits;
};

struct fast_gzip {
	uint64_t acc; /* bits not yet written */
	unsigned int nr_bits;
	uint32_t crc;
	uint32_t total; /* bytes of input, modulo 2^32 as in the trailer */
	uint32_t at;	/* index into @text: everything before it is compressed */
	uint32_t base;	/* position of text[0] in the whole input */
	struct fast_gzip_code literal[256], length[259];
	uint32_t last[FAST_GZIP_HASHES]; /* position + 1 of the last string of that hash, 0: none */
	unsigned char text[FAST_GZIP_WINDOW + FAST_GZIP_BLOCK + 8];
};

/* The largest output for @len bytes of input. */
static inline size_t fast_gzip_bound(size_t len)
{
	return len + len / 8 + FAST_GZIP_SLACK;
}

/* Once, before the first of any number of texts: the codes are the same for all. */
void fast_gzip_init(struct fast_gzip *gz);

/* Each writes to @out and returns the number of bytes. */
size_t fast_gzip_begin(struct fast_gzip *gz, unsigned char *out);
size_t fast_gzip_add(struct fast_gzip *gz, const void *data, size_t len, unsigned char *out);
size_t fast_gzip_end(struct fast_gzip *gz, unsigned char *out);

struct body {
	unsigned int refs; /* not atomic: only the event loop's thread uses bodies */
	char *data;
	size_t len, room;
	bool gzip;
	struct fast_gzip *gz; /* until it is finished */
	bool failed; /* out of memory; sticky */
	bool borrowed; /* @data is a constant of the program */
};

/* Bytes of all bodies in memory, to limit what slow readers can hold. */
size_t body_total(void);

/* @room: the expected size. */
struct body *body_new(bool gzip, size_t room);
/* A body of constant data, which is neither copied nor counted. */
struct body *body_wrap(const void *data, size_t len);
void body_put(struct body *body);
void body_append(struct body *body, const void *data, size_t len);
/* Completes @body. If memory was missing at any step, releases @body and returns NULL. */
struct body *body_finish(struct body *body);
/* A complete body with a copy of @data; NULL without memory. */
struct body *body_of(bool gzip, const void *data, size_t len);

#endif
