/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quantiles of numbers that are all kept in memory. */
#ifndef SUBTICK_STATS_QUANTILE_H
#define SUBTICK_STATS_QUANTILE_H

#include <stddef.h>

void quantile_sort(double *values, size_t nr);
/* The quantile of sorted values, linear between neighbours; @share 0…1. NAN without values. */
double quantile_of(const double *sorted, size_t nr, double share);

#endif
