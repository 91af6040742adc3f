/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far two clocks of the system are apart. */
#include "base/clock.h"

#define READINGS 8

int64_t clock_offset_ns(clockid_t id, int64_t *ret_width)
{
	int64_t best = INT64_MAX, offset = 0;

	/* Whoever loses the core between two readings has a wide one. */
	for (int i = 0; i < READINGS; i++) {
		int64_t before = clock_mono_ns(), other = clock_ns(id), after = clock_mono_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		offset = other - (before + best / 2);
	}
	*ret_width = best;
	return offset;
}

uint64_t clock_at_ns(clockid_t id, uint64_t mono_ns)
{
	int64_t width;

	return mono_ns + clock_offset_ns(id, &width);
}
