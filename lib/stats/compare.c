/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exact permutation test, confidence intervals by Student and Welch, and ranges over the rounds of
 * `subtick crit`.
 */
#include "stats/compare.h"

#include <errno.h>
#include <math.h>

#include "base/array.h"
#include "kmod/tracerbench/stats.h"

/*
 * Confidence level for the detectable effect. The lower end of a two-sided 90 % interval is below
 * the true value with a probability of 95 %.
 */
#define POWER_WITHIN 0.90
#define P_FOUND	     0.05

/*
 * Student's distribution as a finite series for a whole number of degrees of freedom (Abramowitz
 * and Stegun, 26.7.3 and 26.7.4).
 */
double student_within(double t, unsigned int df)
{
	double angle = atan(t / sqrt(df)), square = cos(angle) * cos(angle);
	double term = df % 2 ? cos(angle) : 1.0, sum = df > 1 ? term : 0.0;

	for (unsigned int i = 2 + df % 2; i < df; i += 2) {
		term *= square * (i - 1) / i;
		sum += term;
	}
	sum *= sin(angle);
	return df % 2 ? (angle + sum) * M_2_PI : sum;
}

double student_quantile(double confidence, unsigned int df)
{
	double low = 0.0, high = 1.0;

	while (student_within(high, df) < confidence)
		high *= 2.0;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2.0;

		if (student_within(middle, df) < confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * p-value: share of the sign patterns whose sum is at least as far from 0 as the observed sum. The
 * patterns are visited in the order of a Gray code, which changes one sign per step. The last sign
 * never changes, because a pattern and its inverse have sums at the same distance from 0.
 */
static double permutation_p(const double *log_ratio, unsigned int nr)
{
	uint64_t patterns = 1ULL << (nr - 1), extreme = 0, signs = 0;
	double sum = 0.0, absolute = 0.0, limit;

	array_for_each(value, log_ratio, nr) {
		sum += *value;
		absolute += fabs(*value);
	}
	/* the tolerance covers rounding errors, which depend on the order of additions */
	limit = fabs(sum) - 1e-9 * absolute;
	for (uint64_t step = 1;; step++) {
		unsigned int bit;

		extreme += fabs(sum) >= limit;
		if (step == patterns)
			break;
		bit = (unsigned int)__builtin_ctzll(step);
		signs ^= 1ULL << bit;
		sum += (signs >> bit & 1 ? -2.0 : 2.0) * log_ratio[bit];
	}
	return (double)extreme / (double)patterns;
}

void paired_compare(const double (*pairs)[2], size_t nr, double confidence, bool permute,
		    struct paired *ret_paired)
{
	struct paired found = {.original = NAN,
			       .changed = NAN,
			       .ratio = NAN,
			       .low = NAN,
			       .high = NAN,
			       .p = NAN,
			       .detectable = NAN};
	double log_ratio[PAIRED_MAX], original = 0.0, error, half;
	struct moments moments = {0};

	for (size_t i = 0; i < nr && found.nr < PAIRED_MAX; i++) {
		double ratio = pairs[i][1] / pairs[i][0];

		if (!(pairs[i][0] > 0.0) || !(ratio > 0.0) || !isfinite(ratio))
			continue;
		original += log(pairs[i][0]);
		log_ratio[found.nr] = log(ratio);
		moments_add(&moments, log_ratio[found.nr++]);
	}
	*ret_paired = found;
	if (found.nr < 2)
		return;
	error = moments_stddev(&moments) / sqrt(found.nr);
	half = student_quantile(confidence, found.nr - 1) * error;
	found.original = exp(original / found.nr);
	found.changed = found.original * exp(moments.mean);
	found.ratio = expm1(moments.mean);
	found.low = expm1(moments.mean - half);
	found.high = expm1(moments.mean + half);
	found.detectable = expm1(half + student_quantile(POWER_WITHIN, found.nr - 1) * error);
	if (permute)
		found.p = permutation_p(log_ratio, found.nr);
	found.found = found.nr >= PAIRED_MIN && (found.low > 0.0 || found.high < 0.0) &&
		      !(found.p > P_FOUND);
	*ret_paired = found;
}

/* Squared standard error of the logarithm of the mean, by the delta method. */
static double log_variance(const struct moments *m)
{
	double relative = moments_stddev(m) / m->mean;

	return relative * relative / (double)m->count;
}

/*
 * Degrees of freedom by Welch and Satterthwaite, rounded down, because fewer degrees of freedom
 * never make the confidence interval narrower.
 */
static unsigned int freedom(const struct moments *a, double a_var, const struct moments *b,
			    double b_var)
{
	double sum = a_var + b_var;
	double parts = a_var * a_var / (double)(a->count - 1) + b_var * b_var / (double)(b->count - 1);

	return parts > 0.0 ? (unsigned int)fmax(1.0, sum * sum / parts) : 1;
}

static double ratio(double before, double after)
{
	return before > 0.0 ? after / before - 1.0 : NAN;
}

struct unpaired unpaired_ranges(const struct moments *before, const struct moments *after)
{
	if (!before->count || !after->count)
		return (struct unpaired){.ratio = NAN, .low = NAN, .high = NAN};
	return (struct unpaired){
		.ratio = ratio(before->mean, after->mean),
		.low = ratio(before->max, after->min),
		.high = ratio(before->min, after->max),
		.changed = before->count >= UNPAIRED_MIN_ROUNDS &&
			   after->count >= UNPAIRED_MIN_ROUNDS &&
			   (after->min > before->max || after->max < before->min),
	};
}

static bool only_one(const struct moments *none, const struct moments *some)
{
	return none->max <= 0.0 && some->min > 0.0;
}

struct unpaired unpaired_compare(const struct moments *before, const struct moments *after,
				 double confidence)
{
	struct unpaired found = {.ratio = NAN, .low = NAN, .high = NAN};
	bool enough = before->count >= UNPAIRED_MIN && after->count >= UNPAIRED_MIN;
	double log_ratio, before_var, after_var, half;

	if (!before->count || !after->count)
		return found;
	if (!(before->mean > 0.0) || !(after->mean > 0.0)) {
		found.changed = enough && (only_one(before, after) || only_one(after, before));
		return found;
	}
	log_ratio = log(after->mean / before->mean);
	found.ratio = expm1(log_ratio);
	if (before->count < 2 || after->count < 2)
		return found;
	before_var = log_variance(before);
	after_var = log_variance(after);
	half = student_quantile(confidence, freedom(before, before_var, after, after_var)) *
	       sqrt(before_var + after_var);
	found.low = expm1(log_ratio - half);
	found.high = expm1(log_ratio + half);
	found.changed = enough && (found.low > 0.0 || found.high < 0.0);
	return found;
}

double crit_midmean(uint64_t *values, size_t nr)
{
	size_t skip = nr / 4;
	double sum = 0;

	if (!nr)
		return NAN;
	tb_sort_descending(values, nr);
	for (size_t i = skip; i < nr - skip; i++)
		sum += (double)values[i];
	return sum / (double)(nr - 2 * skip);
}

struct crit_spread crit_spread_of(double *values, size_t nr)
{
	size_t known = 0;

	array_for_each(value, values, nr)
		if (!isnan(*value))
			values[known++] = *value;
	if (!known)
		return (struct crit_spread){.low = NAN, .mid = NAN, .high = NAN};
	quantile_sort(values, known);
	return (struct crit_spread){
		.low = values[0],
		.mid = quantile_of(values, known, 0.5),
		.high = values[known - 1],
		.rounds = known,
	};
}

int crit_differ(const struct crit_spread *a, const struct crit_spread *b,
		struct crit_difference *ret_difference)
{
	if (!a->rounds || !b->rounds)
		return -ENODATA;
	*ret_difference = (struct crit_difference){
		.value = b->mid - a->mid,
		.low = b->low - a->high,
		.high = b->high - a->low,
		.exceeds = b->low > a->high || b->high < a->low,
	};
	return 0;
}
