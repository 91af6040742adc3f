/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One bit per word of the totals, and the words that are not 0. */
#include "stats/runq_pack.h"

#include <stdlib.h>
#include <string.h>

#define WORDS (sizeof(struct runq_totals) / sizeof(uint64_t))

_Static_assert(sizeof(struct runq_totals) % sizeof(uint64_t) == 0, "words and nothing else");

struct runq_packed {
	uint64_t bits[(WORDS + 63) / 64];
	uint64_t words[];
};

struct runq_packed *runq_pack(const struct runq_totals *totals)
{
	uint64_t words[WORDS];
	struct runq_packed *packed;
	size_t nr = 0;

	memcpy(words, totals, sizeof(words));
	for (size_t i = 0; i < WORDS; i++)
		nr += words[i] != 0;
	packed = calloc(1, sizeof(*packed) + nr * sizeof(*packed->words));
	if (!packed)
		return NULL;
	nr = 0;
	for (size_t i = 0; i < WORDS; i++) {
		if (!words[i])
			continue;
		packed->bits[i / 64] |= 1ULL << i % 64;
		packed->words[nr++] = words[i];
	}
	return packed;
}

void runq_unpack(const struct runq_packed *packed, struct runq_totals *ret_totals)
{
	uint64_t words[WORDS] = {0};
	size_t nr = 0;

	for (size_t i = 0; packed && i < WORDS; i++)
		if (packed->bits[i / 64] >> i % 64 & 1)
			words[i] = packed->words[nr++];
	memcpy(ret_totals, words, sizeof(words));
}
