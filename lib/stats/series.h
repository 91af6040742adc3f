/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quantiles of numbers that are few enough to be kept. */
#ifndef SUBTICK_STATS_SERIES_H
#define SUBTICK_STATS_SERIES_H

#include <stddef.h>

void series_sort(double *values, size_t nr);
/* Of sorted values, linear between neighbours; @share 0…1. NAN for none. */
double series_quantile(const double *sorted, size_t nr, double share);

#endif
