/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the means of two sets of windows. */
#include "stats/unpaired.h"

#include <math.h>

#include "stats/paired.h"

/* Squared standard error of the logarithm of the mean, by the delta method. */
static double log_variance(const struct moments *m)
{
	double relative = moments_stddev(m) / m->mean;

	return relative * relative / (double)m->count;
}

/* Degrees of freedom of Welch and Satterthwaite, rounded down: the interval is not too narrow. */
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
