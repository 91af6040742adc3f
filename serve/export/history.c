/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps compressed measurement windows in one contiguous buffer, oldest first. */
#include "serve/export/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Tolerance in ns for windows that end slightly early. */
#define SLACK_NS 100000000ULL

static void drop_oldest(struct history *h, size_t nr)
{
	uint32_t cut = nr < h->nr ? h->entries[nr].at : h->bytes;

	h->nr -= nr;
	h->bytes -= cut;
	memmove(h->entries, &h->entries[nr], h->nr * sizeof(h->entries[0]));
	memmove(h->data, h->data + cut, h->bytes);
	for (size_t i = 0; i < h->nr; i++)
		h->entries[i].at -= cut;
}

/* Drops every second round of windows from the history, beginning with the oldest round. */
static void thin(struct history *h)
{
	uint64_t round_ns = h->entries[0].mono_ns;
	size_t nr = h->nr;
	bool keep = false;

	h->nr = h->bytes = 0;
	for (size_t i = 0; i < nr; i++) {
		struct history_entry entry = h->entries[i];

		keep ^= entry.mono_ns != round_ns;
		round_ns = entry.mono_ns;
		if (!keep)
			continue;
		memmove(h->data + h->bytes, h->data + entry.at, entry.len);
		entry.at = h->bytes;
		h->bytes += entry.len;
		h->entries[h->nr++] = entry;
	}
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
	/* Halve the interval again: windows shrink, for example, after cgroups were removed. */
	if (h->every_ns > HISTORY_EVERY_NS && h->bytes < HISTORY_BYTES / 4 &&
	    h->nr < HISTORY_MAX / 4)
		h->every_ns /= 2;
	return true;
}

void history_add(struct history *h, uint64_t now_ns, uint64_t unix_ns, unsigned int collector,
		 const struct body *body)
{
	size_t old = 0;

	while (old < h->nr && now_ns - h->entries[old].mono_ns > HISTORY_SPAN_NS)
		old++;
	if (old)
		drop_oldest(h, old);
	if (!h->data)
		h->data = malloc(HISTORY_BYTES);
	if (!h->data || body->len > HISTORY_LARGEST)
		return;
	while (h->nr == HISTORY_MAX || h->bytes + body->len > HISTORY_BYTES)
		thin(h);
	h->entries[h->nr++] = (struct history_entry){.mono_ns = now_ns,
						     .unix_ns = unix_ns,
						     .collector = collector,
						     .at = h->bytes,
						     .len = (uint32_t)body->len};
	memcpy(h->data + h->bytes, body->data, body->len);
	h->bytes += (uint32_t)body->len;
}

const struct history_entry *history_find(const struct history *h, unsigned int collector,
					 uint64_t unix_ns)
{
	const struct history_entry *best = NULL;

	for (size_t i = 0; i < h->nr; i++)
		if (h->entries[i].collector == collector &&
		    (!best ||
		     abs_diff(h->entries[i].unix_ns, unix_ns) < abs_diff(best->unix_ns, unix_ns)))
			best = &h->entries[i];
	return best;
}

void history_free(struct history *h)
{
	free(h->data);
	*h = (struct history){0};
}
