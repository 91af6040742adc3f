/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps windows in slabs and drops old ones. */
#include "serve/export/history.h"

#include <string.h>

/* Windows end a little early or late. */
#define SLACK_NS 100000000ULL

/* A response that is being sent may still hold it. */
static void slab_end(struct history *h)
{
	h->bytes -= h->slabs[0]->room;
	body_put(h->slabs[0]);
	h->nr_slabs--;
	memmove(&h->slabs[0], &h->slabs[1], h->nr_slabs * sizeof(h->slabs[0]));
}

/* Entries are in the order of slabs: slabs before the first entry's are empty. The last one stays. */
static void slabs_end_empty(struct history *h)
{
	while (h->nr_slabs > 1 && (!h->nr || h->entries[0].slab != h->slabs[0]))
		slab_end(h);
}

static bool has_room(const struct history *h, size_t len)
{
	const struct body *last = h->nr_slabs ? h->slabs[h->nr_slabs - 1] : NULL;

	return last && last->room - last->len >= len;
}

/* Copies @data to the end of the last slab, or to a new slab. False without memory or slabs. */
static bool place(struct history *h, struct history_entry *entry, const char *data)
{
	if (!has_room(h, entry->len)) {
		struct body *slab = h->nr_slabs < HISTORY_SLABS ? body_new(false, HISTORY_SLAB) : NULL;

		if (!slab)
			return false;
		h->slabs[h->nr_slabs++] = slab;
		h->bytes += slab->room;
	}
	entry->slab = h->slabs[h->nr_slabs - 1];
	entry->at = (uint32_t)entry->slab->len;
	body_append(entry->slab, data, entry->len);
	return true;
}

/* Moves the second, fourth, … round into new slabs and drops the others. Without memory, drops the rest. */
static void thin(struct history *h)
{
	struct body *old[HISTORY_SLABS];
	size_t nr_old = h->nr_slabs, nr = h->nr;
	uint64_t round_ns = h->entries[0].mono_ns;
	bool keep = false;

	memcpy(old, h->slabs, sizeof(old));
	h->nr = h->nr_slabs = h->bytes = 0;
	for (size_t i = 0; i < nr; i++) {
		struct history_entry entry = h->entries[i];

		keep ^= entry.mono_ns != round_ns;
		round_ns = entry.mono_ns;
		if (!keep)
			continue;
		if (!place(h, &entry, entry.slab->data + entry.at))
			break;
		h->entries[h->nr++] = entry;
	}
	for (size_t i = 0; i < nr_old; i++)
		body_put(old[i]);
	h->every_ns *= 2;
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
	h->nr -= old;
	memmove(&h->entries[0], &h->entries[old], h->nr * sizeof(h->entries[0]));
	slabs_end_empty(h);
	if (body->len > HISTORY_SLAB)
		return;
	while (h->nr == HISTORY_MAX ||
	       (h->nr && !has_room(h, body->len) && h->nr_slabs == HISTORY_SLABS))
		thin(h);
	if (place(h, &entry, body->data))
		h->entries[h->nr++] = entry;
	slabs_end_empty(h);
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
	h->nr = 0;
	while (h->nr_slabs)
		slab_end(h);
}
