/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps windows in slabs and drops old ones. */
#include "history.h"

#include <string.h>

/* Windows end a little early or late. */
#define SLACK_NS 100000000ULL

static struct history_slab *slab_of(struct history *h, const struct history_entry *entry)
{
	struct history_slab *slab = h->slabs;

	while (slab->body != entry->slab)
		slab++;
	return slab;
}

/* A response that is being sent may still hold it. */
static void slab_end(struct history *h, size_t i)
{
	h->bytes -= h->slabs[i].body->room;
	body_put(h->slabs[i].body);
	h->nr_slabs--;
	memmove(&h->slabs[i], &h->slabs[i + 1], (h->nr_slabs - i) * sizeof(h->slabs[0]));
}

/* But for the last one, slabs without an entry go. */
static void slabs_end_empty(struct history *h)
{
	for (size_t i = h->nr_slabs; i-- > 0;)
		if (!h->slabs[i].entries && i + 1 < h->nr_slabs)
			slab_end(h, i);
}

static void drop(struct history *h, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		slab_of(h, &h->entries[i])->entries--;
	memmove(&h->entries[from], &h->entries[to], (h->nr - to) * sizeof(h->entries[0]));
	h->nr -= to - from;
	slabs_end_empty(h);
}

static bool has_room(const struct history *h, size_t len)
{
	const struct body *last = h->nr_slabs ? h->slabs[h->nr_slabs - 1].body : NULL;

	return last && last->room - last->len >= len;
}

/* False without memory. */
static bool slab_begin(struct history *h)
{
	struct body *body = body_new(false, HISTORY_SLAB);

	if (!body)
		return false;
	h->slabs[h->nr_slabs++] = (struct history_slab){.body = body};
	h->bytes += body->room;
	slabs_end_empty(h);
	return true;
}

/* Into the last slab, which has room. */
static void place(struct history *h, struct history_entry *entry, const char *data)
{
	struct history_slab *slab = &h->slabs[h->nr_slabs - 1];

	entry->slab = slab->body;
	entry->at = (uint32_t)slab->body->len;
	body_append(slab->body, data, entry->len);
	slab->entries++;
}

static size_t round_end(const struct history *h, size_t from)
{
	size_t end = from;

	while (end < h->nr && h->entries[end].mono_ns == h->entries[from].mono_ns)
		end++;
	return end;
}

/* Moves what is left together, into new slabs. Without memory the rest is dropped. */
static void compact(struct history *h)
{
	struct history_slab old[HISTORY_SLABS];
	size_t nr_old = h->nr_slabs, kept = 0;

	memcpy(old, h->slabs, sizeof(old));
	h->nr_slabs = h->bytes = 0;
	for (; kept < h->nr; kept++) {
		struct history_entry *entry = &h->entries[kept];

		if (!has_room(h, entry->len) && (h->nr_slabs == HISTORY_SLABS || !slab_begin(h)))
			break;
		place(h, entry, entry->slab->data + entry->at);
	}
	h->nr = kept;
	for (size_t i = 0; i < nr_old; i++)
		body_put(old[i].body);
}

/* Drops the first, third, … round. */
static void thin(struct history *h)
{
	for (size_t at = 0; at < h->nr; at = round_end(h, at))
		drop(h, at, round_end(h, at));
	h->every_ns *= 2;
	compact(h);
}

bool history_due(struct history *h, uint64_t now_ns)
{
	bool watched = h->watched_ns && now_ns - h->watched_ns < HISTORY_SPAN_NS;
	uint64_t every_ns;

	if (!h->every_ns)
		h->every_ns = HISTORY_EVERY_NS;
	every_ns = watched || h->every_ns > HISTORY_UNWATCHED_NS ? h->every_ns : HISTORY_UNWATCHED_NS;
	if (h->last_ns && now_ns - h->last_ns + SLACK_NS < every_ns)
		return false;
	h->last_ns = now_ns;
	/* There is room again, such as after cgroups have ended. */
	if (h->every_ns > HISTORY_EVERY_NS && h->bytes < HISTORY_BYTES / 4 &&
	    h->nr < HISTORY_MAX / 4)
		h->every_ns /= 2;
	return true;
}

void history_add(struct history *h, uint64_t now_ns, uint64_t unix_ns, unsigned int collector,
		 const struct body *body)
{
	struct history_entry entry = {.mono_ns = now_ns,
				      .unix_ns = unix_ns,
				      .collector = collector,
				      .len = (uint32_t)body->len,
				      .raw_len = (uint32_t)body->raw_len};
	size_t old = 0;

	while (old < h->nr && now_ns - h->entries[old].mono_ns > HISTORY_SPAN_NS)
		old++;
	drop(h, 0, old);
	if (body->len > HISTORY_SLAB)
		return;
	while (h->nr == HISTORY_MAX ||
	       (h->nr && !has_room(h, body->len) && h->nr_slabs == HISTORY_SLABS))
		thin(h);
	if (!has_room(h, body->len) && !slab_begin(h))
		return;
	place(h, &entry, body->data);
	h->entries[h->nr++] = entry;
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
	while (h->nr_slabs)
		slab_end(h, h->nr_slabs - 1);
}
