/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Macros for fuzz targets. A fuzz target is a function and one of the macros FUZZ_STRING and
 * FUZZ_BYTES. The function of a fuzz target checks properties that must hold for any input.
 */
#ifndef SUBTICK_TESTS_FUZZ_FUZZ_H
#define SUBTICK_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_CHECK(cond)                                                                          \
	do {                                                                                      \
		if (!(cond)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Returns a copy of the input, followed by @extra zero bytes. The buffer is not longer, so the
 * address sanitizer detects reads beyond the copy. The caller frees the copy.
 */
static inline char *fuzz_copy(const uint8_t *data, size_t size, size_t extra)
{
	char *copy = calloc(1, size + extra + !(size + extra));

	FUZZ_CHECK(copy);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

/* Defines a fuzz target that calls fn(const char *text) with a terminated string. */
#define FUZZ_STRING(fn)                                                             \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                \
	{                                                                           \
		char *text = fuzz_copy(data, strnlen((const char *)data, size), 1); \
		fn(text);                                                           \
		free(text);                                                         \
		return 0;                                                           \
	}

/* Defines a fuzz target that calls fn(char *text, size_t len). The text has no terminating NUL. */
#define FUZZ_BYTES(fn)                                               \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) \
	{                                                            \
		char *text = fuzz_copy(data, size, 0);               \
		fn(text, size);                                      \
		free(text);                                          \
		return 0;                                            \
	}

#endif
