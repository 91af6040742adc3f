/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the most active of those that have no place; told apart by a hash, because nobody is named. */
#include "contest.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"

#define HALF_NS (60 * NSEC_PER_SEC)

static uint64_t hash_of(const char *labels)
{
	return hash_bytes(HASH_START, labels, strlen(labels));
}

uint64_t contest_decay(uint64_t active_ns, uint64_t past_ns)
{
	return (uint64_t)((double)active_ns * exp2(-(double)past_ns / (double)HALF_NS));
}

static uint64_t active_now(const struct contender *contender, uint64_t now_ns)
{
	return contest_decay(contender->active_ns, now_ns - contender->seen_ns);
}

static struct contender *find(struct contest *contest, uint64_t hash)
{
	for (size_t i = 0; i < contest->nr; i++)
		if (contest->contenders[i].hash == hash)
			return &contest->contenders[i];
	return NULL;
}

/* Room for one more; NULL if all that have some are more active than @wait_ns. */
static struct contender *make_room(struct contest *contest, uint64_t wait_ns, uint64_t now_ns)
{
	struct contender *least = contest->contenders;

	if (contest->nr < CONTEST_SIZE)
		return &contest->contenders[contest->nr++];
	for (size_t i = 1; i < CONTEST_SIZE; i++)
		if (active_now(&contest->contenders[i], now_ns) < active_now(least, now_ns))
			least = &contest->contenders[i];
	return active_now(least, now_ns) < wait_ns ? least : NULL;
}

uint64_t contest_add(struct contest *contest, const char *labels, uint64_t wait_ns, uint64_t now_ns)
{
	uint64_t hash = hash_of(labels);
	struct contender *contender = find(contest, hash);

	if (contender) {
		contender->active_ns = active_now(contender, now_ns) + wait_ns;
		contender->seen_ns = now_ns;
		return contender->active_ns;
	}
	contender = make_room(contest, wait_ns, now_ns);
	if (contender)
		*contender = (struct contender){hash, wait_ns, now_ns};
	return wait_ns;
}

void contest_leave(struct contest *contest, const char *labels)
{
	struct contender *contender = find(contest, hash_of(labels));

	if (contender)
		*contender = contest->contenders[--contest->nr];
}
