/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads wait counters of groups, counts the waits up to each boundary, and ranks the groups that
 * cause waits (culprits).
 */
#include "stats/runq.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

size_t runq_stripe_size(const struct runq_shape *shape)
{
	return shape->steps ? sizeof(struct runq_steps) : sizeof(struct runq_hist);
}

struct hist_scale runq_scale(bool steps, const uint64_t *le, unsigned int nr_le)
{
	return steps ? (struct hist_scale){.nr = nr_le + 1, .le = le} : hist_fine;
}

/* struct runq_hist and struct runq_steps start with the bucket counts. */
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

/*
 * Reads the wait times of a slot by cause. A frequent cause has a counter per CPU. A rare cause has
 * a counter in each stripe (copy of the histogram).
 */
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

		/* Unroll the loop for speed, because it runs for every cgroup. */
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
	array_for_each(ns, cause_ns, RUNQ_NR_CAUSES)
		sum += *ns;
	return sum;
}

int runq_le_assign(const uint64_t *le, unsigned int nr, uint8_t in[HIST_NR], unsigned int *ret_bad)
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

void runq_quick_table(const uint8_t in[HIST_NR], bool steps, uint8_t ret_table[RUNQ_NR_QUICK])
{
	uint8_t before[HIST_NR];

	runq_le_before(in, before);
	for (uint64_t i = 0; i < RUNQ_NR_QUICK; i++) {
		uint64_t low = i * HIST_SUB;
		uint8_t shift = 0, boundary = 0;

		while (low >> shift >= 2 * HIST_SUB)
			shift++;
		for (uint64_t wait = low; wait < low + HIST_SUB; wait++)
			if (in[hist_index(wait)])
				boundary = RUNQ_QUICK_LE;
		if (steps)
			ret_table[i] = before[hist_index(low)] | boundary;
		else if (boundary)
			ret_table[i] = boundary;
		else if (shift < HIST_SUB_BITS)
			ret_table[i] = RUNQ_QUICK_SHIFT + shift;
		else
			ret_table[i] = hist_index(low) - RUNQ_QUICK_FIRST;
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
	/*
	 * If a boundary is inside a fine bucket, runq_hist.below counts the waits of the bucket up
	 * to the boundary.
	 */
	for (at = stop; at > hist->entries && at[-1].bucket >= scale->nr; at--)
		ret_counts[at[-1].bucket - scale->nr] += at[-1].count;
}

double runq_count_stderr(uint64_t count, double ratio)
{
	return count ? sqrt((1.0 - ratio) / (double)count) : NAN;
}

/*
 * Returns the relative standard error of a sum of sampled waits. Each wait x is sampled
 * independently with probability p. The estimated sum Σx/p has the variance (1-p)/p² · Σx².
 */
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

static int by_pair(const void *a, const void *b)
{
	const struct runq_pair *x = &((const struct runq_row *)a)->pair;
	const struct runq_pair *y = &((const struct runq_row *)b)->pair;

	return CMP(x->victim, y->victim) ?: CMP(x->culprit, y->culprit);
}

static void charge_add(void *to, const void *from)
{
	const struct runq_row *more = from;
	struct runq_row *row = to;

	row->charge.wait_ns += more->charge.wait_ns;
	row->charge.count += more->charge.count;
}

size_t runq_rows_merge(struct runq_row *rows, size_t nr)
{
	return array_merge(rows, nr, sizeof(*rows), by_pair, charge_add);
}

/* A blame row, and the total wait time of the victim in this row. */
struct ranked {
	struct runq_row row;
	uint64_t victim_ns;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return CMP(y->victim_ns, x->victim_ns) ?:
	       CMP(x->row.pair.victim, y->row.pair.victim) ?:
	       CMP(y->row.charge.wait_ns, x->row.charge.wait_ns) ?:
	       CMP(x->row.pair.culprit, y->row.pair.culprit);
}

size_t runq_rows_rank(struct runq_row *rows, size_t nr, size_t per_victim)
{
	/* @rows may be NULL if there are no rows. qsort() does not accept NULL. */
	struct ranked *ranked = nr ? malloc(nr * sizeof(*ranked)) : NULL;
	size_t left = 0, culprits = 0;

	if (!ranked)
		return nr;
	qsort(rows, nr, sizeof(*rows), by_pair);
	for (size_t i = 0, end; i < nr; i = end) {
		uint64_t victim_ns = 0;

		for (end = i; end < nr && rows[end].pair.victim == rows[i].pair.victim; end++)
			victim_ns += rows[end].charge.wait_ns;
		for (size_t j = i; j < end; j++)
			ranked[j] = (struct ranked){rows[j], victim_ns};
	}
	qsort(ranked, nr, sizeof(*ranked), by_rank);
	for (size_t i = 0; i < nr; i++) {
		const struct runq_row *row = &ranked[i].row;

		if (!i || row->pair.victim != ranked[i - 1].row.pair.victim)
			culprits = 0;
		if (culprits++ < per_victim) {
			rows[left++] = *row;
			continue;
		}
		rows[left - 1].pair.culprit = RUNQ_KEY_OTHER;
		charge_add(&rows[left - 1], row);
	}
	free(ranked);
	return left;
}
