/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device's clock against the system's: the tightest reading, and the line through two. */
#include "stats/wake.h"

#include <errno.h>

int wake_clock_tightest(const struct wake_clock_sample *samples, size_t nr,
			struct wake_clock_fix *ret_fix)
{
	const struct wake_clock_sample *best = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct wake_clock_sample *s = &samples[i];

		/* The clock was set back in between. */
		if (s->after_ns < s->before_ns)
			continue;
		if (!best || s->after_ns - s->before_ns < best->after_ns - best->before_ns)
			best = s;
	}
	if (!best)
		return -EINVAL;
	*ret_fix = (struct wake_clock_fix){
		.device_ns = best->device_ns,
		.system_ns = best->before_ns + (best->after_ns - best->before_ns) / 2,
		.half_window_ns = (best->after_ns - best->before_ns + 1) / 2,
	};
	return 0;
}

int64_t wake_clock_ahead(const struct wake_clock_fix *a, const struct wake_clock_fix *b)
{
	int64_t ahead = (a->device_ns - a->system_ns) - (b->device_ns - b->system_ns);
	int64_t open = a->half_window_ns + b->half_window_ns;

	if (ahead > open)
		return ahead - open;
	return ahead < -open ? ahead + open : 0;
}

/* System nanoseconds per device nanosecond, less one: small, so that no digit is lost. */
static double slope(const struct wake_clock_map *map)
{
	int64_t device = map->b.device_ns - map->a.device_ns;
	int64_t system = map->b.system_ns - map->a.system_ns;

	return device > 0 ? (double)(system - device) / (double)device : 0.0;
}

static int64_t round_ns(double ns)
{
	return ns < 0 ? (int64_t)(ns - 0.5) : (int64_t)(ns + 0.5);
}

int64_t wake_clock_to_system(const struct wake_clock_map *map, int64_t device_ns)
{
	int64_t since = device_ns - map->a.device_ns;

	return map->a.system_ns + since + round_ns((double)since * slope(map));
}

int64_t wake_clock_to_device(const struct wake_clock_map *map, int64_t system_ns)
{
	int64_t since = system_ns - map->a.system_ns;
	double rate = slope(map);

	return map->a.device_ns + since - round_ns((double)since * rate / (1.0 + rate));
}

double wake_clock_drift_ppb(const struct wake_clock_map *map)
{
	double rate = slope(map);

	/* Of the device against the system: a fast device counts more ns, so its slope is below 0. */
	return -rate / (1.0 + rate) * 1e9;
}

int64_t wake_clock_uncertainty(const struct wake_clock_map *map, int64_t device_ns)
{
	double span = (double)(map->b.device_ns - map->a.device_ns), at;

	if (span <= 0)
		return map->a.half_window_ns;
	at = (double)(device_ns - map->a.device_ns) / span;
	if (at < 0)
		at = -at;
	else if (at <= 1)
		return round_ns((1 - at) * (double)map->a.half_window_ns +
				at * (double)map->b.half_window_ns);
	/* Outside, the error of the slope adds up. */
	return round_ns((1 + at) * (double)(map->a.half_window_ns + map->b.half_window_ns));
}
