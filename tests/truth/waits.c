/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the report of subtick about a group with a list of waits. */
#include "waits.h"

#include <math.h>
#include <stdbool.h>

#include "live.h"

uint64_t waits_low(const struct wait_known *waits, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += waits[i].low_ns;
	return sum;
}

uint64_t waits_high(const struct wait_known *waits, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += waits[i].high_ns;
	return sum;
}

uint64_t waits_slack(const struct wait_known *waits, size_t nr)
{
	uint64_t most = 0;

	for (size_t i = 0; i < nr; i++)
		if (waits[i].high_ns - waits[i].low_ns > most)
			most = waits[i].high_ns - waits[i].low_ns;
	return most;
}

uint64_t waits_bucket(uint64_t ns, uint64_t *ret_width)
{
	uint64_t power = 32;

	while (power <= ns / 2)
		power *= 2;
	*ret_width = ns < 32 ? 1 : power / 32;
	return ns / *ret_width * *ret_width;
}

void waits_judge(const char *name, json_t *group, const struct wait_known *waits, size_t nr)
{
	double count = live_number(group, "count"), sum = live_number(group, "sum_ns");
	double max = live_number(group, "max_ns"), max_low = 0.0, max_high = 0.0;
	uint64_t low = waits_low(waits, nr), high = waits_high(waits, nr);

	for (size_t i = 0; i < nr; i++) {
		max_low = fmax(max_low, (double)waits[i].low_ns);
		max_high = fmax(max_high, (double)waits[i].high_ns);
	}
	live_ok(count == (double)nr, "%s: %.0f waits, %zu by the schedule", name, count, nr);
	live_ok(sum >= (double)low && sum <= (double)high,
		"%s: sum %.0f ns, by stamps %llu to %llu", name, sum, (unsigned long long)low,
		(unsigned long long)high);
	live_ok(max >= max_low && max <= max_high, "%s: max %.0f ns, by stamps %.0f to %.0f", name,
		max, max_low, max_high);
	/* Means of 1 ms and more are whole nanoseconds in JSON. */
	live_ok(fabs(live_number(group, "avg_ns") - sum / count) < 0.51,
		"%s: average is sum over count", name);
}

void waits_judge_le(const char *name, json_t *group, const struct wait_known *waits, size_t nr)
{
	json_t *row;
	size_t i, judged = 0;
	bool fits = true;

	json_array_foreach(json_object_get(group, "le"), i, row)
	{
		double le = live_number(row, "le_ns"), count = live_number(row, "count");
		size_t surely = 0, maybe = 0;

		if (isnan(le))
			le = INFINITY;
		for (size_t w = 0; w < nr; w++) {
			surely += (double)waits[w].high_ns <= le;
			maybe += (double)waits[w].low_ns <= le;
		}
		judged += surely == maybe;
		if (count >= (double)surely && count <= (double)maybe)
			continue;
		fits = false;
		live_note("%s: %.0f waits up to %.0f ns, by stamps %zu to %zu", name, count, le,
			  surely, maybe);
	}
	live_ok(fits && judged, "%s: counts at %zu boundaries, %zu of them known exactly", name, i,
		judged);
}

/*
 * Checks the percentile @percent of a group. rank is the number of waits @nr multiplied by @percent
 * / 100. low is the lower bound of the bucket that contains this rank, width is its width in ns,
 * and in_bucket is its number of waits. before is the number of waits in lower buckets. The
 * expected percentile is low + width * (rank - before) / in_bucket. The expected percentile is
 * limited to the longest wait.
 */
void waits_judge_percentile(const char *name, json_t *group, const char *key, double percent,
			    const struct wait_known *waits, size_t nr)
{
	double rank = (double)nr * percent / 100.0, got = live_number(group, key), want = NAN;
	double max = live_number(group, "max_ns");
	bool known = true;

	for (size_t i = 0; i < nr && isnan(want); i++) {
		uint64_t width, bucket = waits_bucket(waits[i].low_ns, &width);
		size_t before = 0, within = 0;

		for (size_t w = 0; w < nr; w++) {
			before += waits[w].high_ns < bucket;
			within += waits[w].low_ns >= bucket && waits[w].high_ns < bucket + width;
		}
		if (!((double)before < rank && (double)(before + within) >= rank))
			continue;
		want = (double)bucket + (double)width * (rank - (double)before) / (double)within;
		/*
		 * If the bounds of a wait are in different buckets, the expected percentile is
		 * uncertain.
		 */
		for (size_t w = 0; w < nr; w++)
			known &= waits[w].high_ns < bucket ||
				 (waits[w].low_ns >= bucket && waits[w].high_ns < bucket + width) ||
				 waits[w].low_ns >= bucket + width;
	}
	want = fmin(want, max);
	live_ok(known && fabs(got - want) < 0.51, "%s: %s is %.1f, %.1f by the list of waits", name,
		key, got, want);
}
