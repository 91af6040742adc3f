/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads slots, counts at boundaries, ranks blame. */
#include "stats/runq.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t runq_stripe_size(const struct runq_shape *shape)
{
	return shape->steps ? sizeof(struct runq_steps) : sizeof(struct runq_hist);
}

struct hist_scale runq_scale(bool steps, const uint64_t *le, unsigned int nr_le)
{
	return steps ? (struct hist_scale){.nr = nr_le + 1, .le = le} : hist_fine;
}

/* In both kinds of stripes the counts come first. */
_Static_assert(!offsetof(struct runq_steps, count) && !offsetof(struct runq_hist, count) &&
		       offsetof(struct runq_hist, below) == HIST_NR * sizeof(uint64_t),
	       "counts are one array");

static unsigned int nr_counts(const struct runq_shape *shape)
{
	return shape->steps ? shape->nr_le + 1 : HIST_NR;
}

static const volatile uint64_t *stripe_at(const void *slot, const struct runq_shape *shape,
					  unsigned int stripe)
{
	return (const void *)((const char *)slot + RUNQ_HISTS + stripe * runq_stripe_size(shape));
}

/* Cells have the frequent causes of each CPU, stripes the rare ones. */
static void read_causes(const void *slot, const struct runq_shape *shape,
			uint64_t ret_cause_ns[RUNQ_NR_CAUSES])
{
	size_t size = runq_stripe_size(shape), rare_at = shape->steps
								 ? offsetof(struct runq_steps, rare_ns)
								 : offsetof(struct runq_hist, rare_ns);
	const volatile struct runq_cell *cell =
		(const void *)((const char *)slot + RUNQ_CELLS_AT(size, shape->stripes));

	memset(ret_cause_ns, 0, RUNQ_NR_CAUSES * sizeof(*ret_cause_ns));
	for (unsigned int cpu = 0; cpu < shape->cpus; cpu++)
		for (int i = 0; i < RUNQ_NR_HOT; i++)
			ret_cause_ns[i] += cell[cpu].cause_ns[i];
	for (unsigned int i = 0; i < shape->stripes; i++)
		for (int j = 0; j < RUNQ_NR_RARE; j++)
			ret_cause_ns[RUNQ_NR_HOT + j] +=
				stripe_at(slot, shape, i)[rare_at / sizeof(uint64_t) + j];
}

void runq_slot_read(const void *slot, const struct runq_shape *shape,
		    uint64_t ret_cause_ns[RUNQ_NR_CAUSES], struct hist *ret_hist)
{
	unsigned int nr = shape->steps ? nr_counts(shape) : HIST_NR + shape->nr_le;
	size_t next = runq_stripe_size(shape) / sizeof(uint64_t);
	const volatile uint64_t *count = stripe_at(slot, shape, 0);

	ret_hist->nr = 0;
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t sum = count[i];

		for (unsigned int j = 1; j < shape->stripes; j++)
			sum += count[i + j * next];
		hist_push(ret_hist, i, sum);
	}
	read_causes(slot, shape, ret_cause_ns);
}

uint64_t runq_slot_count(const void *slot, const struct runq_shape *shape)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < shape->stripes; i++) {
		const volatile uint64_t *count = stripe_at(slot, shape, i);
		const volatile uint64_t *end = count + nr_counts(shape);

		/* Unrolled: most of thousands of groups have no new waits, and only this is read. */
		for (; end - count >= 4; count += 4)
			sum += count[0] + count[1] + count[2] + count[3];
		while (count < end)
			sum += *count++;
	}
	return sum;
}

uint64_t runq_slot_wait_ns(const void *slot, const struct runq_shape *shape)
{
	uint64_t cause_ns[RUNQ_NR_CAUSES], sum = 0;

	read_causes(slot, shape, cause_ns);
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		sum += cause_ns[i];
	return sum;
}

int runq_le_place(const uint64_t *le, unsigned int nr, uint8_t in[HIST_NR], unsigned int *ret_bad)
{
	memset(in, 0, HIST_NR);
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int bucket = hist_index(le[i]);

		*ret_bad = i;
		if (i >= RUNQ_NR_LE || le[i] > HIST_VALUE_MAX || in[bucket] ||
		    (i && le[i] <= le[i - 1]))
			return -EINVAL;
		in[bucket] = i + 1;
	}
	return 0;
}

void runq_le_before(const uint8_t in[HIST_NR], uint8_t ret_before[HIST_NR])
{
	uint8_t before = 0;

	for (unsigned int i = 0; i < HIST_NR; i++) {
		ret_before[i] = before;
		before += in[i] != 0;
	}
}

void runq_quick_steps(const uint8_t in[HIST_NR], uint8_t ret_step[RUNQ_NR_QUICK])
{
	uint8_t before[HIST_NR];

	runq_le_before(in, before);
	for (uint64_t i = 0; i < RUNQ_NR_QUICK; i++) {
		uint64_t low = i * HIST_SUB;

		ret_step[i] = before[hist_index(low)];
		for (uint64_t wait = low; wait < low + HIST_SUB; wait++)
			if (in[hist_index(wait)])
				ret_step[i] |= RUNQ_QUICK_LE;
	}
}

void runq_quick_buckets(const uint8_t in[HIST_NR], uint8_t ret_bucket[RUNQ_NR_QUICK])
{
	for (uint64_t i = 0; i < RUNQ_NR_QUICK; i++) {
		uint64_t low = i * HIST_SUB;
		uint8_t shift = 0;

		while (low >> shift >= 2 * HIST_SUB)
			shift++;
		if (shift < HIST_SUB_BITS)
			ret_bucket[i] = RUNQ_QUICK_SHIFT + shift;
		else
			ret_bucket[i] = hist_index(low) - RUNQ_QUICK_FIRST;
		for (uint64_t wait = low; wait < low + HIST_SUB; wait++)
			if (in[hist_index(wait)])
				ret_bucket[i] = RUNQ_QUICK_LE;
	}
}

void runq_le_counts(const struct hist_scale *scale, const struct hist *hist, const uint64_t *le,
		    unsigned int nr, uint64_t *ret_counts)
{
	const struct hist_entry *at = hist->entries, *stop = at + hist->nr;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < nr; i++) {
		for (unsigned int end = scale->le ? i + 1 : hist_index(le[i]);
		     at < stop && at->bucket < end; at++)
			sum += at->count;
		ret_counts[i] = sum;
	}
	/* Of the fine bucket that a boundary splits, struct runq_hist.below has the lower part. */
	for (at = stop; at > hist->entries && at[-1].bucket >= scale->nr; at--)
		ret_counts[at[-1].bucket - scale->nr] += at[-1].count;
}

double runq_count_stderr(uint64_t count, double ratio)
{
	return count ? sqrt((1.0 - ratio) / (double)count) : NAN;
}

/* Each wait is sampled independently with probability p: Var(Σx/p) = (1-p)/p² · Σx². */
double runq_sum_stderr(const struct hist *hist, double ratio)
{
	double squares = 0.0, sum = 0.0;

	for (uint32_t i = 0; i < hist->nr && hist->entries[i].bucket < HIST_NR; i++) {
		unsigned int bucket = hist->entries[i].bucket;
		double middle = ((double)hist_low(bucket) + (double)hist_high(bucket) - 1.0) / 2.0;
		double all = (double)hist->entries[i].count * middle;

		squares += all * middle;
		sum += all;
	}
	return sum > 0.0 ? sqrt((1.0 - ratio) * squares) / sum : NAN;
}

static int pair_cmp(const struct runq_pair *a, const struct runq_pair *b)
{
	if (a->victim != b->victim)
		return a->victim < b->victim ? -1 : 1;
	if (a->culprit != b->culprit)
		return a->culprit < b->culprit ? -1 : 1;
	return 0;
}

static int by_pair(const void *a, const void *b)
{
	return pair_cmp(&((const struct runq_row *)a)->pair, &((const struct runq_row *)b)->pair);
}

static void rows_sort(struct runq_row *rows, size_t nr)
{
	if (nr)
		qsort(rows, nr, sizeof(*rows), by_pair);
}

size_t runq_rows_merge(struct runq_row *rows, size_t nr)
{
	size_t left = 0;

	rows_sort(rows, nr);
	for (size_t i = 0; i < nr; i++) {
		if (left && rows[left - 1].pair.victim == rows[i].pair.victim &&
		    rows[left - 1].pair.culprit == rows[i].pair.culprit) {
			rows[left - 1].charge.wait_ns += rows[i].charge.wait_ns;
			rows[left - 1].charge.count += rows[i].charge.count;
		} else {
			rows[left++] = rows[i];
		}
	}
	return left;
}

static int by_charge(const void *a, const void *b)
{
	const struct runq_row *left = a, *right = b;

	if (left->charge.wait_ns != right->charge.wait_ns)
		return left->charge.wait_ns > right->charge.wait_ns ? -1 : 1;
	return by_pair(a, b);
}

/* Rows of one victim, with its whole wait. */
struct victim {
	size_t first, nr;
	uint64_t wait_ns;
};

static int by_victim(const void *a, const void *b)
{
	const struct victim *left = a, *right = b;

	if (left->wait_ns != right->wait_ns)
		return left->wait_ns > right->wait_ns ? -1 : 1;
	return left->first < right->first ? -1 : left->first > right->first;
}

/* Sorts one victim's rows and adds up those beyond @per_victim; returns how many are left. */
static size_t victim_fold(struct runq_row *rows, size_t nr, size_t per_victim)
{
	qsort(rows, nr, sizeof(*rows), by_charge);
	if (nr <= per_victim)
		return nr;
	rows[per_victim - 1].pair.culprit = RUNQ_KEY_OTHER;
	for (size_t i = per_victim; i < nr; i++) {
		rows[per_victim - 1].charge.wait_ns += rows[i].charge.wait_ns;
		rows[per_victim - 1].charge.count += rows[i].charge.count;
	}
	return per_victim;
}

size_t runq_rows_rank(struct runq_row *rows, size_t nr, size_t per_victim)
{
	struct victim *victims = malloc((nr + 1) * sizeof(*victims));
	struct runq_row *copy = malloc((nr + 1) * sizeof(*copy));
	size_t nr_victims = 0, left = 0;

	/* Without rows @rows may be NULL, which memcpy() and qsort() do not accept. */
	if (!victims || !copy || !per_victim || !nr) {
		free(victims);
		free(copy);
		return nr;
	}
	rows_sort(rows, nr);
	memcpy(copy, rows, nr * sizeof(*copy));
	for (size_t i = 0; i < nr; i++) {
		if (!i || rows[i].pair.victim != rows[i - 1].pair.victim)
			victims[nr_victims++] = (struct victim){.first = i};
		victims[nr_victims - 1].nr++;
		victims[nr_victims - 1].wait_ns += rows[i].charge.wait_ns;
	}
	qsort(victims, nr_victims, sizeof(*victims), by_victim);
	for (size_t i = 0; i < nr_victims; i++) {
		size_t kept = victim_fold(&copy[victims[i].first], victims[i].nr, per_victim);

		memcpy(&rows[left], &copy[victims[i].first], kept * sizeof(*rows));
		left += kept;
	}
	free(victims);
	free(copy);
	return left;
}
