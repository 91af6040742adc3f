/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growth of the counters of abi/noise.h between two readings, while programs update them. */
#include "measure/noise/cells.h"

#include <string.h>

#include "stats/hist.h"

#define SEE(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
/* Maximum number of attempts to copy a counter between two updates. An update takes tens of ns. */
#define TRIES 100

/* The copy is consistent if the count is equal before and after the copy. */
bool noise_sum_changed(const struct noise_sum *live, const struct noise_sum *was, void *to,
		       size_t size)
{
	uint64_t count = SEE(live->count);

	if (count == was->count)
		return false;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = count;

		memcpy(to, live, size);
		count = SEE(live->count);
		if (count == before)
			break;
	}
	return true;
}

/*
 * The result includes events between the end of the window and this reading. The longest event is
 * unknown if the previous reading already contained a longer event.
 */
uint64_t noise_sum_longest(const struct noise_sum *now, const struct noise_sum *was, uint64_t turn)
{
	uint64_t own = now->longest[turn & 1], late = now->longest[~turn & 1];

	if (own >> NOISE_TURN_SHIFT != turn)
		own = 0;
	if (late >> NOISE_TURN_SHIFT != turn + 1)
		late = 0;
	if (own && own == was->longest[turn & 1])
		return 0;
	return (own & NOISE_LONGEST_MAX) > (late & NOISE_LONGEST_MAX) ? own : late;
}

static uint64_t p99_of(const struct noise_cell *now, const struct noise_cell *was, uint64_t longest)
{
	uint64_t count[NOISE_NR_BUCKETS];
	double p99;

	for (int i = 0; i < NOISE_NR_BUCKETS; i++)
		count[i] = now->hist[i] - was->hist[i];
	p99 = hist_percentile_coarse(count, NOISE_BUCKET_SHIFT, 99);
	/* The percentile is interpolated within its bucket and may exceed the maximum. */
	return p99 < 0 ? UINT64_MAX : longest && p99 > (double)longest ? longest : (uint64_t)p99;
}

void noise_cell_times(const struct noise_cell *now, const struct noise_cell *was, uint64_t turn,
		      struct noise_times *ret_times)
{
	ret_times->count = now->sum.count - was->sum.count;
	ret_times->ns = now->sum.ns - was->sum.ns;
	ret_times->longest_ns = noise_sum_longest(&now->sum, &was->sum, turn) & NOISE_LONGEST_MAX;
	ret_times->p99_ns = p99_of(now, was, ret_times->longest_ns);
}

uint64_t noise_open_grown(struct noise_open *open, uint64_t key, uint64_t since_ns, uint64_t task_ns,
			  uint64_t *ret_back)
{
	bool same = key == open->key && since_ns == open->since_ns;
	uint64_t had = key && task_ns > since_ns ? task_ns - since_ns : 0;
	uint64_t given = same ? open->given_ns : 0;

	*ret_back = same ? 0 : open->given_ns;
	*open = (struct noise_open){key, since_ns, had};
	return had > given ? had - given : 0;
}
