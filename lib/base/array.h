/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growing arrays, memory blocks freed together, comparison for qsort(), merging, FNV-1a hash. */
#ifndef SUBTICK_BASE_ARRAY_H
#define SUBTICK_BASE_ARRAY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Compares two numbers: -1, 0 or 1. `CMP(a, b) ?: CMP(c, d)` uses c and d if a equals b. */
#define CMP(a, b) (((a) > (b)) - ((a) < (b)))

static inline uint64_t abs_diff(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Smallest power of two that is at least @n; 1 for 0. */
static inline size_t roundup_pow_of_two(size_t n)
{
	size_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

/*
 * Grows @array to hold at least @nr + 1 elements. If out of memory, returns NULL and leaves @array
 * unchanged. The capacity doubles when @nr is a power of two, so callers need no capacity variable.
 */
static inline void *grow(void *array, size_t nr, size_t size)
{
	return nr & (nr - 1) ? array : reallocarray(array, nr ? 2 * nr : 1, size);
}

/* Appends a value to the growing array @array of @nr elements. Returns 0 or -ENOMEM. */
#define array_push(array, nr, ...)                                    \
	({                                                            \
		void *grown_ = grow((array), (nr), sizeof(*(array))); \
		if (grown_) {                                         \
			(array) = grown_;                             \
			(array)[(nr)++] = __VA_ARGS__;                \
		}                                                     \
		grown_ ? 0 : -ENOMEM;                                 \
	})

/*
 * Runs the next statement for each of the @nr elements of @array, with a pointer @item to the
 * element. @array may be NULL if @nr is 0. The statement must change neither @array nor @nr.
 */
#define array_for_each(item, array, nr)                                                            \
	for (__typeof__((array)[0]) *item = (array), *item##_end = (nr) != 0 ? item + (nr) : item; \
	     item < item##_end; item++)

/* Memory blocks that are freed together. A zeroed struct blocks is empty. */
struct blocks {
	void **list;
	size_t nr;
	bool failed; /* true if an allocation failed */
};

/* Zeroed memory, valid until blocks_free(); NULL if out of memory, which sets blocks->failed. */
static inline void *blocks_calloc(struct blocks *blocks, size_t nr, size_t size)
{
	void *block = calloc(nr, size);

	if (block && !array_push(blocks->list, blocks->nr, block))
		return block;
	free(block);
	blocks->failed = true;
	return NULL;
}

static inline void blocks_free(struct blocks *blocks)
{
	while (blocks->nr)
		free(blocks->list[--blocks->nr]);
	free(blocks->list);
	*blocks = (struct blocks){0};
}

/*
 * Index of the first element whose uint64_t member at @offset is above @limit, or @nr if all
 * members are at most @limit. @array has @nr elements of @size bytes and is sorted by the member at
 * @offset.
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

/*
 * Sorts @array by @compare and merges equal elements: @add adds the second element to the first.
 * Returns the number of elements after the merge.
 */
static inline size_t array_merge(void *array, size_t nr, size_t size,
				 int (*compare)(const void *, const void *),
				 void (*add)(void *to, const void *from))
{
	char *last = array;

	if (!nr)
		return 0;
	qsort(array, nr, size, compare);
	for (const char *at = last + size, *end = last + nr * size; at < end; at += size) {
		if (compare(last, at))
			memmove(last += size, at, size);
		else
			add(last, at);
	}
	return (last - (char *)array) / size + 1;
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
