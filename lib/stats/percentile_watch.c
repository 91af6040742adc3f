/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the counters of a look with those of ten looks before. */
#include "stats/percentile_watch.h"

#define MILLION 1000000ULL

bool percentile_watch_look(struct percentile_watch *watch, const struct percentile_look *now,
			   struct percentile_look *ret_window)
{
	size_t oldest = watch->nr >= PERCENTILE_LOOKS ? watch->nr % PERCENTILE_LOOKS : 0;
	struct percentile_look window = {
		.ns = now->ns - watch->looks[oldest].ns,
		.values = now->values - watch->looks[oldest].values,
		.high = now->high - watch->looks[oldest].high,
	};
	bool first = !watch->nr;

	watch->looks[watch->nr++ % PERCENTILE_LOOKS] = *now;
	if (first || window.values * watch->above_ppm < MILLION ||
	    window.high * MILLION <= window.values * watch->above_ppm)
		return false;
	*ret_window = window;
	return true;
}
