/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes sparse histograms from arrays that have a count for each bucket. */
#ifndef SUBTICK_TESTS_UNIT_DENSE_H
#define SUBTICK_TESTS_UNIT_DENSE_H

#include <stdlib.h>

#include "stats/hist.h"

/* The caller frees the entries of the histogram. */
static inline struct hist hist_of(const uint64_t *count, unsigned int nr)
{
	struct hist hist = {.entries = malloc(nr * sizeof(*hist.entries))};

	for (unsigned int i = 0; hist.entries && i < nr; i++)
		hist_push(&hist, i, count[i]);
	return hist;
}

#endif
