/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums, differences and ranks of run-queue waits. */
#include "stats/runq.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/hist.h"

/* What slots of both kinds have: causes, the rare ones included, which are in the histograms. */
static void slot_causes(const void *slot, size_t stripe, unsigned int stripes, unsigned int cpus,
			size_t rare_at, uint64_t ret_cause_ns[RUNQ_NR_CAUSES])
{
	const char *hist = (const char *)slot + RUNQ_HISTS;
	const volatile struct runq_cell *cell =
		(const void *)((const char *)slot + RUNQ_CELLS_AT(stripe, stripes));

	memset(ret_cause_ns, 0, RUNQ_NR_CAUSES * sizeof(*ret_cause_ns));
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		for (int i = 0; i < RUNQ_NR_HOT; i++)
			ret_cause_ns[i] += cell[cpu].cause_ns[i];
	for (unsigned int i = 0; i < stripes; i++) {
		const volatile uint64_t *rare = (const void *)(hist + i * stripe + rare_at);

		for (int j = 0; j < RUNQ_NR_RARE; j++)
			ret_cause_ns[RUNQ_NR_HOT + j] += rare[j];
	}
}

void runq_slot_sum(const void *slot, unsigned int stripes, unsigned int cpus,
		   struct runq_totals *ret_totals)
{
	const volatile struct runq_hist *hist =
		(const void *)((const char *)slot + RUNQ_HISTS);

	memset(ret_totals, 0, sizeof(*ret_totals));
	for (unsigned int i = 0; i < stripes; i++) {
		for (unsigned int b = 0; b < HIST_NR; b++)
			ret_totals->count[b] += hist[i].count[b];
		for (unsigned int b = 0; b < RUNQ_NR_LE; b++)
			ret_totals->below[b] += hist[i].below[b];
	}
	slot_causes(slot, sizeof(struct runq_hist), stripes, cpus,
		    offsetof(struct runq_hist, rare_ns), ret_totals->cause_ns);
}

void runq_slot_steps(const void *slot, unsigned int stripes, unsigned int cpus, unsigned int nr_le,
		     struct runq_step_totals *ret_totals)
{
	const volatile struct runq_steps *steps =
		(const void *)((const char *)slot + RUNQ_HISTS);

	memset(ret_totals, 0, sizeof(*ret_totals));
	ret_totals->nr = nr_le + 1;
	for (unsigned int i = 0; i < stripes; i++)
		for (unsigned int b = 0; b <= nr_le; b++)
			ret_totals->count[b] += steps[i].count[b];
	slot_causes(slot, sizeof(struct runq_steps), stripes, cpus,
		    offsetof(struct runq_steps, rare_ns), ret_totals->cause_ns);
}

/* Four in each turn: of most groups nothing else is read in a window, and there may be thousands. */
static uint64_t counts_sum(const volatile uint64_t *count, unsigned int nr)
{
	const volatile uint64_t *end = count + nr;
	uint64_t sum = 0;

	for (; end - count >= 4; count += 4)
		sum += count[0] + count[1] + count[2] + count[3];
	while (count < end)
		sum += *count++;
	return sum;
}

uint64_t runq_slot_count(const void *slot, bool steps, unsigned int stripes, unsigned int nr_le)
{
	unsigned int nr = steps ? nr_le + 1 : HIST_NR;
	size_t stripe = steps ? sizeof(struct runq_steps) : sizeof(struct runq_hist);
	uint64_t sum = 0;

	/* In both the counts come first. */
	_Static_assert(!offsetof(struct runq_steps, count) && !offsetof(struct runq_hist, count),
		       "counts are read without knowing which of them it is");
	for (unsigned int i = 0; i < stripes; i++)
		sum += counts_sum((const void *)((const char *)slot + RUNQ_HISTS + i * stripe), nr);
	return sum;
}

uint64_t runq_slot_wait_ns(const void *slot, bool steps, unsigned int stripes, unsigned int cpus)
{
	uint64_t cause_ns[RUNQ_NR_CAUSES], sum = 0;

	if (steps)
		slot_causes(slot, sizeof(struct runq_steps), stripes, cpus,
			    offsetof(struct runq_steps, rare_ns), cause_ns);
	else
		slot_causes(slot, sizeof(struct runq_hist), stripes, cpus,
			    offsetof(struct runq_hist, rare_ns), cause_ns);
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		sum += cause_ns[i];
	return sum;
}

void runq_totals_sub(struct runq_totals *now, const struct runq_totals *was)
{
	for (unsigned int i = 0; i < HIST_NR; i++)
		now->count[i] -= was->count[i];
	for (unsigned int i = 0; i < RUNQ_NR_LE; i++)
		now->below[i] -= was->below[i];
	for (unsigned int i = 0; i < RUNQ_NR_CAUSES; i++)
		now->cause_ns[i] -= was->cause_ns[i];
}

void runq_totals_add(struct runq_totals *totals, const struct runq_totals *more)
{
	for (unsigned int i = 0; i < HIST_NR; i++)
		totals->count[i] += more->count[i];
	for (unsigned int i = 0; i < RUNQ_NR_LE; i++)
		totals->below[i] += more->below[i];
	for (unsigned int i = 0; i < RUNQ_NR_CAUSES; i++)
		totals->cause_ns[i] += more->cause_ns[i];
	if (more->max_ns > totals->max_ns)
		totals->max_ns = more->max_ns;
}

uint64_t runq_totals_count(const struct runq_totals *totals)
{
	return hist_total(totals->count);
}

uint64_t runq_totals_sum_ns(const struct runq_totals *totals)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RUNQ_NR_CAUSES; i++)
		sum += totals->cause_ns[i];
	return sum;
}

uint64_t runq_totals_max_ns(const struct runq_totals *totals)
{
	for (unsigned int i = HIST_NR; i-- > 0;)
		if (totals->count[i])
			return totals->max_ns > hist_low(i) ? totals->max_ns : hist_low(i);
	return totals->max_ns;
}

double runq_totals_percentile(const struct runq_totals *totals, double percent)
{
	return fmin(hist_percentile(totals->count, percent), (double)runq_totals_max_ns(totals));
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

void runq_le_counts(const struct runq_totals *totals, const uint64_t *le, unsigned int nr,
		    uint64_t *ret_counts)
{
	unsigned int bucket = 0;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < nr; i++) {
		for (unsigned int end = hist_index(le[i]); bucket < end; bucket++)
			sum += totals->count[bucket];
		ret_counts[i] = sum + totals->below[i];
	}
}

double runq_count_stderr(uint64_t count, double ratio)
{
	return count ? sqrt((1.0 - ratio) / (double)count) : NAN;
}

/* Each wait is sampled independently with probability p: Var(Σx/p) = (1-p)/p² · Σx². */
double runq_sum_stderr(const struct runq_totals *totals, double ratio)
{
	double squares = 0.0, sum = 0.0;

	for (unsigned int i = 0; i < HIST_NR; i++) {
		double middle = ((double)hist_low(i) + (double)hist_high(i) - 1.0) / 2.0;

		squares += (double)totals->count[i] * middle * middle;
		sum += (double)totals->count[i] * middle;
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
