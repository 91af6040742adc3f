/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which windows are kept, and which go. */
#include "history.h"

#include <string.h>

/* Windows end a little early or late. */
#define SLACK_NS 100000000ULL

static void drop(struct history *h, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		h->bytes -= h->entries[i].body->len;
		body_put(h->entries[i].body);
	}
	memmove(&h->entries[from], &h->entries[to], (h->nr - to) * sizeof(h->entries[0]));
	h->nr -= to - from;
}

static size_t round_end(const struct history *h, size_t from)
{
	size_t end = from;

	while (end < h->nr && h->entries[end].mono_ns == h->entries[from].mono_ns)
		end++;
	return end;
}

/* Drops the first, third, … round. */
static void thin(struct history *h)
{
	for (size_t at = 0; at < h->nr; at = round_end(h, at))
		drop(h, at, round_end(h, at));
	h->every_ns *= 2;
}

bool history_due(struct history *h, uint64_t now_ns)
{
	if (!h->every_ns)
		h->every_ns = HISTORY_EVERY_NS;
	if (h->last_ns && now_ns - h->last_ns + SLACK_NS < h->every_ns)
		return false;
	h->last_ns = now_ns;
	/* There is room again, such as after cgroups have ended. */
	if (h->every_ns > HISTORY_EVERY_NS && h->bytes < HISTORY_BYTES / 4 &&
	    h->nr < HISTORY_MAX / 4)
		h->every_ns /= 2;
	return true;
}

void history_add(struct history *h, uint64_t now_ns, uint64_t unix_ns, unsigned int collector,
		 struct body *body)
{
	size_t old = 0;

	while (old < h->nr && now_ns - h->entries[old].mono_ns > HISTORY_SPAN_NS)
		old++;
	drop(h, 0, old);
	if (body->len > HISTORY_BYTES / 16) {
		body_put(body);
		return;
	}
	while (h->nr == HISTORY_MAX || (h->nr && h->bytes + body->len > HISTORY_BYTES))
		thin(h);
	h->entries[h->nr++] = (struct history_entry){
		.mono_ns = now_ns, .unix_ns = unix_ns, .collector = collector, .body = body};
	h->bytes += body->len;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

const struct history_entry *history_find(const struct history *h, unsigned int collector,
					 uint64_t unix_ns)
{
	const struct history_entry *best = NULL;

	for (size_t i = 0; i < h->nr; i++)
		if (h->entries[i].collector == collector &&
		    (!best || distance(h->entries[i].unix_ns, unix_ns) <
				      distance(best->unix_ns, unix_ns)))
			best = &h->entries[i];
	return best;
}

void history_free(struct history *h)
{
	drop(h, 0, h->nr);
}
