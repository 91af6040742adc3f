/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random numbers from a fixed seed, so that a failure is reproducible. */
#ifndef SUBTICK_TESTS_RANDOM_H
#define SUBTICK_TESTS_RANDOM_H

#include <stdint.h>

/* Marsaglia's xorshift64. The state must not be 0. */
static inline uint64_t xorshift64(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Knuth's linear congruential generator. Returns 31 bits, because low bits have short cycles. */
static inline uint64_t lcg64(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

#endif
