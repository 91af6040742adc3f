/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The body of a response: made once, shared by all requests for the same, optionally compressed. */
#ifndef SUBTICK_SERVE_BODY_H
#define SUBTICK_SERVE_BODY_H

#include <stdbool.h>
#include <stddef.h>

struct fast_gzip;

struct body {
	unsigned int refs; /* not atomic: only the event loop's thread uses bodies */
	char *data;
	size_t len, room;
	size_t raw_len; /* bytes appended, before compression */
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
/* 0, or -ENOMEM if any step failed. */
int body_finish(struct body *body);
#endif
