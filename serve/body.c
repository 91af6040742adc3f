/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growing, compressing, counting references. */
#include "body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

/* Level 1: the text is so repetitive that more effort buys little. 15 + 16 means gzip. */
#define GZIP_LEVEL 1
#define GZIP_BITS  (15 + 16)

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
	if (gzip && deflateInit2(&body->stream, GZIP_LEVEL, Z_DEFLATED, GZIP_BITS, 8,
				 Z_DEFAULT_STRATEGY) == Z_OK)
		body->gzip = true;
	if (!body->data || (gzip && !body->gzip)) {
		body->room = 0;
		body_put(body);
		return NULL;
	}
	total += body->room;
	return body;
}

void body_put(struct body *body)
{
	if (!body || --body->refs)
		return;
	/* Frees nothing twice: ending an ended stream is an error code. */
	if (body->gzip)
		deflateEnd(&body->stream);
	total -= body->room;
	free(body->data);
	free(body);
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

static void compress_some(struct body *body, const void *data, size_t len, int flush)
{
	z_stream *z = &body->stream;
	int rc = Z_OK;

	z->next_in = (Bytef *)data;
	z->avail_in = len;
	do {
		if (!make_room(body, 4096))
			return;
		z->next_out = (Bytef *)body->data + body->len;
		z->avail_out = body->room - body->len;
		rc = deflate(z, flush);
		body->len = body->room - z->avail_out;
	} while (rc == Z_OK && (z->avail_in || flush == Z_FINISH));
	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		body->failed = true;
}

void body_append(struct body *body, const void *data, size_t len)
{
	if (body->gzip) {
		compress_some(body, data, len, Z_NO_FLUSH);
		return;
	}
	if (!make_room(body, len))
		return;
	memcpy(body->data + body->len, data, len);
	body->len += len;
}

int body_finish(struct body *body)
{
	char *exact;

	if (body->gzip)
		compress_some(body, "", 0, Z_FINISH);
	if (body->failed)
		return -ENOMEM;
	exact = realloc(body->data, body->len ? body->len : 1);
	if (exact) {
		body->data = exact;
		total -= body->room - (body->len ? body->len : 1);
		body->room = body->len ? body->len : 1;
	}
	return 0;
}

static void on_sent(const void *data, size_t len, void *arg)
{
	(void)data;
	(void)len;
	body_put(arg);
}

int body_send(struct body *body, struct evbuffer *buffer)
{
	if (!body->len)
		return 0;
	body->refs++;
	if (!evbuffer_add_reference(buffer, body->data, body->len, on_sent, body))
		return 0;
	body->refs--;
	return -ENOMEM;
}
