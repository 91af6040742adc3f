/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growing arrays, comparison for qsort(), hashes. */
#ifndef SUBTICK_BASE_ARRAY_H
#define SUBTICK_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* -1, 0 or 1. `CMP(a, b) ?: CMP(c, d)` compares by a second field where the first is equal. */
#define CMP(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * @array with room for one more than @nr elements; NULL without memory, and then @array is as it
 * was. It doubles at powers of two, so no variable for the capacity is needed. @nr may have fallen.
 */
static inline void *grow(void *array, size_t nr, size_t size)
{
	return nr & (nr - 1) ? array : reallocarray(array, nr ? 2 * nr : 1, size);
}

/*
 * Index of the first of @nr elements whose uint64_t at @offset is above @limit; @nr if there is none.
 * Elements of @size bytes are sorted by that member.
 */
static inline size_t array_above(const void *array, size_t nr, size_t size, size_t offset,
				 uint64_t limit)
{
	size_t low = 0;

	while (low < nr) {
		size_t mid = low + (nr - low) / 2;

		if (*(const uint64_t *)((const char *)array + mid * size + offset) <= limit)
			low = mid + 1;
		else
			nr = mid;
	}
	return low;
}

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define HASH_START 0xcbf29ce484222325ULL

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	for (const unsigned char *byte = data, *end = byte + len; byte < end; byte++)
		hash = (hash ^ *byte) * 0x100000001b3ULL;
	return hash;
}

#endif
