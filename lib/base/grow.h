/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that grow by one element at a time. */
#ifndef SUBTICK_BASE_GROW_H
#define SUBTICK_BASE_GROW_H

#include <stdlib.h>

/*
 * @array with room for one more than @nr elements; NULL without memory, and then @array is as it
 * was. It doubles at powers of two, so no variable for the capacity is needed. @nr may have fallen.
 */
static inline void *grow(void *array, size_t nr, size_t size)
{
	return nr & (nr - 1) ? array : reallocarray(array, nr ? 2 * nr : 1, size);
}

#endif
