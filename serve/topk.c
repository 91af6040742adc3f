/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the activity of a bounded number of cgroups. */
#include "topk.h"

#include <math.h>

#include "base/clock.h"

#define HALF_NS (60 * NSEC_PER_SEC)

uint64_t active_now(const struct active *active, uint64_t now_ns)
{
	double past_ns = (double)(now_ns - active->seen_ns);

	return (uint64_t)((double)active->ns * exp2(-past_ns / (double)HALF_NS));
}

static struct topk_entry *find(struct topk *topk, uint64_t key)
{
	for (size_t i = 0; i < topk->nr; i++)
		if (topk->entries[i].key == key)
			return &topk->entries[i];
	return NULL;
}

/* Room for one more; NULL if all entries are more active than @wait_ns. */
static struct topk_entry *make_room(struct topk *topk, uint64_t wait_ns, uint64_t now_ns)
{
	struct topk_entry *least = topk->entries;

	if (topk->nr < TOPK_SIZE)
		return &topk->entries[topk->nr++];
	for (size_t i = 1; i < TOPK_SIZE; i++)
		if (active_now(&topk->entries[i].active, now_ns) < active_now(&least->active, now_ns))
			least = &topk->entries[i];
	return active_now(&least->active, now_ns) < wait_ns ? least : NULL;
}

uint64_t topk_add(struct topk *topk, uint64_t key, uint64_t wait_ns, uint64_t now_ns)
{
	struct topk_entry *entry = find(topk, key);
	uint64_t active_ns = wait_ns;

	if (entry)
		active_ns += active_now(&entry->active, now_ns);
	else
		entry = make_room(topk, wait_ns, now_ns);
	if (entry)
		*entry = (struct topk_entry){key, {active_ns, now_ns}};
	return active_ns;
}

void topk_remove(struct topk *topk, uint64_t key)
{
	struct topk_entry *entry = find(topk, key);

	if (entry)
		*entry = topk->entries[--topk->nr];
}
