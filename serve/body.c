/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory, compression and references of response bodies. */
#include "body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fast_gzip.h"

static size_t total;
/* Kept for the next body: saves building its codes and page faults. */
static struct fast_gzip *spare;

static struct fast_gzip *gz_take(void)
{
	struct fast_gzip *gz = spare;

	spare = NULL;
	if (gz)
		return gz;
	gz = malloc(sizeof(*gz));
	if (gz)
		fast_gzip_init(gz);
	return gz;
}

static void gz_give(struct fast_gzip *gz)
{
	if (spare)
		free(gz);
	else
		spare = gz;
}

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
	body->gz = gzip ? gz_take() : NULL;
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
	gz_give(body->gz);
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
	body->raw_len += len;
	if (body->gzip) {
		body->len +=
			fast_gzip_add(body->gz, data, len, (unsigned char *)body->data + body->len);
		return;
	}
	memcpy(body->data + body->len, data, len);
	body->len += len;
}

int body_finish(struct body *body)
{
	char *exact;

	if (body->gzip && make_room(body, FAST_GZIP_SLACK))
		body->len += fast_gzip_end(body->gz, (unsigned char *)body->data + body->len);
	gz_give(body->gz);
	body->gz = NULL;
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
