/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts fine histograms to native histograms. */
#include "stats/native.h"

#include <math.h>

#define COARSE_LOG2 (-20)
#define FINE_LOG2   (-23)
#define FINE_SCHEMA 3
#define SECOND_NS   1000000000ULL

const struct native_scale native_coarse = {
	.schema = 0,
	.first = COARSE_LOG2 + 1,
	.nr = NATIVE_NR_LE,
};

const struct native_scale native_fine = {
	.schema = FINE_SCHEMA,
	.first = FINE_LOG2 * (1 << FINE_SCHEMA) + 1,
	.nr = NATIVE_FINE_WORDS - 1,
};

uint64_t native_le_ns(unsigned int i)
{
	int log2 = COARSE_LOG2 + (int)i;

	return log2 < 0 ? SECOND_NS >> -log2 : SECOND_NS << log2;
}

/* 2^(k/8 - 1): where the eight buckets of an octave begin. A logarithm would take longer than the rest. */
static const double octave[1 << FINE_SCHEMA] = {
	0.5,
	0.54525386633262882973,
	0.59460355750136053336,
	0.64841977732550483296,
	0.70710678118654752440,
	0.77110541270397041180,
	0.84089641525371454303,
	0.91700404320467123175,
};

/* The word of native_fold() for a bucket of ours. Its middle is on no edge: those are irrational,
 * or whole nanoseconds, or below 60 ns. */
static unsigned int fine_word(unsigned int bucket)
{
	double middle_ns = ((double)hist_low(bucket) + (double)(hist_high(bucket) - 1)) / 2.0;
	double part;
	int log2, index;

	if (middle_ns <= ldexp(1e9, FINE_LOG2))
		return 0;
	part = frexp(middle_ns / 1e9, &log2);
	index = (log2 - 1) * (1 << FINE_SCHEMA);
	for (int k = 0; k < 1 << FINE_SCHEMA && part > octave[k]; k++)
		index++;
	return (unsigned int)(index - native_fine.first) + 1;
}

void native_fold(const struct hist *hist, double ratio, uint64_t words[NATIVE_FINE_WORDS])
{
	uint64_t total = 0, added = 0, until;

	for (uint32_t i = 0; i < hist->nr && hist->entries[i].bucket < HIST_NR; i++) {
		total += hist->entries[i].count;
		until = ratio < 1.0 ? (uint64_t)llround((double)total / ratio) : total;
		words[fine_word(hist->entries[i].bucket)] += until - added;
		added = until;
	}
}
