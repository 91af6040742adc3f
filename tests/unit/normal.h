/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Generates random numbers with a normal distribution, for tests of statistics. */
#ifndef SUBTICK_TESTS_UNIT_NORMAL_H
#define SUBTICK_TESTS_UNIT_NORMAL_H

#include <math.h>
#include <stdint.h>

/* splitmix64 gives the same random numbers on every machine. */
static uint64_t random_state;

static inline double uniform(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double normal(void)
{
	return sqrt(-2.0 * log(uniform())) * cos(2.0 * M_PI * uniform());
}

#endif
