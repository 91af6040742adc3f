/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of wake latencies: summaries, verdicts, pre-wake, and overhead of timestamps. */
#include "stats/wake.h"

#include <errno.h>
#include <math.h>

#include "base/array.h"
#include "stats/hist.h"
#include "stats/quantile.h"

static struct wake_summary summary_of(uint64_t count)
{
	return (struct wake_summary){
		.count = count,
		.min_ns = NAN,
		.median_ns = NAN,
		.mean_ns = NAN,
		.stddev_ns = NAN,
		.p25_ns = NAN,
		.p75_ns = NAN,
		.p99_ns = NAN,
		.p999_ns = NAN,
		.p9999_ns = NAN,
		.max_ns = NAN,
	};
}

/* Percentile of sorted values. Returns NAN for too few values, such as fewer than 100 for p99. */
static double percentile(const double *sorted, size_t nr, double percent)
{
	if ((double)nr * (100.0 - percent) < 100.0 && percent > 50.0)
		return NAN;
	return quantile_of(sorted, nr, percent / 100.0);
}

/*
 * Returns the error of the median. The error is computed from ranks, so that outliers have no
 * effect. With 99.7 % probability the true median is between the values 1.5 √n ranks below and
 * above the middle.
 */
static double median_error(const double *sorted, size_t nr)
{
	double reach = 1.5 * sqrt((double)nr), middle = (double)(nr - 1) / 2.0;
	size_t low = middle > reach ? (size_t)(middle - reach) : 0;
	size_t high = middle + reach < (double)(nr - 1) ? (size_t)(middle + reach) + 1 : nr - 1;

	return (sorted[high] - sorted[low]) / 2.0;
}

void wake_summarize(double *latency_ns, size_t nr, struct wake_summary *ret_summary)
{
	struct wake_summary s = summary_of(nr);
	struct moments moments = {0};

	if (nr) {
		quantile_sort(latency_ns, nr);
		array_for_each(ns, latency_ns, nr)
			moments_add(&moments, *ns);
		s.min_ns = latency_ns[0];
		s.max_ns = latency_ns[nr - 1];
		s.mean_ns = moments.mean;
		s.stddev_ns = moments_stddev(&moments);
		s.median_ns = percentile(latency_ns, nr, 50.0);
		s.p25_ns = quantile_of(latency_ns, nr, 0.25);
		s.p75_ns = quantile_of(latency_ns, nr, 0.75);
		s.median_error_ns = median_error(latency_ns, nr);
		s.p99_ns = percentile(latency_ns, nr, 99.0);
		s.p999_ns = percentile(latency_ns, nr, 99.9);
		s.p9999_ns = percentile(latency_ns, nr, 99.99);
		for (size_t i = nr; i-- && latency_ns[i] > 0.9 * s.max_ns;)
			s.near_max++;
	}
	*ret_summary = s;
}

void wake_hist_range(const struct wake_hist *hist, unsigned int *ret_first, unsigned int *ret_end)
{
	/* min_ns is 0 if the histogram is empty, and 1 for a latency of 0 ns. */
	*ret_first = hist->min_ns > 1 ? hist_index(hist->min_ns) : 0;
	*ret_end = hist->min_ns ? hist_index(hist->max_ns) + 1 : 0;
}

/*
 * Computes the minimum and maximum latency of a window. The BPF programs keep only the minimum and
 * maximum since the start of the measurement. The minimum of the BPF programs is used if the
 * minimum changed in the window, or if the first nonempty bucket contains the minimum. Otherwise
 * the lower bound of the first bucket is used. The maximum is computed from the last bucket in the
 * same way.
 */
static void hist_extremes(const struct hist *hist, const struct wake_hist *now,
			  const struct wake_hist *before, struct wake_summary *s)
{
	unsigned int first = hist->entries[0].bucket, last = hist->entries[hist->nr - 1].bucket;

	s->min_ns = (double)hist_low(first);
	s->max_ns = (double)hist_high(last) - 1.0;
	if (now->min_ns != before->min_ns || hist_index(now->min_ns) == first)
		s->min_ns = (double)now->min_ns;
	if (now->max_ns != before->max_ns || hist_index(now->max_ns) == last)
		s->max_ns = (double)now->max_ns;
	if (now->max_ns == before->max_ns)
		s->max_error_ns = s->max_ns - (double)hist_low(last);
}

/*
 * Standard deviation of a histogram in ns. Uses sum_units instead of sum_ns, because sum_sq has the
 * same rounding as sum_units (WAKE_SQ_UNIT), so that the rounding errors cancel.
 */
static double hist_stddev(const struct wake_hist *now, const struct wake_hist *before,
			  uint64_t count)
{
	double units = (double)(now->sum_units - before->sum_units);
	double square = (double)(now->sum_sq - before->sum_sq);
	double mean = units / (double)count, variance = square / (double)count - mean * mean;

	return variance > 0 ? sqrt(variance) * WAKE_SQ_UNIT : 0.0;
}

static double hist_tail(const struct hist *hist, const struct wake_summary *s, double percent)
{
	if ((double)s->count * (100.0 - percent) < 100.0)
		return NAN;
	return fmin(hist_value_at(&hist_fine, hist, UINT64_MAX, percent), s->max_ns);
}

void wake_summarize_hist(const struct wake_hist *now, const struct wake_hist *before,
			 uint32_t overhead_ns, struct wake_summary *ret_summary)
{
	struct hist_entry entries[HIST_NR];
	struct hist hist = {.entries = entries};
	struct wake_summary s;
	double *const figures[] = {&s.min_ns, &s.median_ns, &s.mean_ns, &s.p99_ns,
				   &s.p999_ns, &s.p9999_ns, &s.max_ns};
	unsigned int bucket = 0, end = 0, near;

	if (now != before)
		wake_hist_range(now, &bucket, &end);
	for (; bucket < end; bucket++)
		hist_push(&hist, bucket, now->count[bucket] - before->count[bucket]);
	s = summary_of(hist_values(&hist_fine, &hist));
	if (s.count) {
		hist_extremes(&hist, now, before, &s);
		near = hist_index((uint64_t)(0.9 * s.max_ns));
		for (uint32_t i = hist.nr; i-- && entries[i].bucket >= near;)
			s.near_max += entries[i].count;
		s.mean_ns = (double)(now->sum_ns - before->sum_ns) / (double)s.count;
		s.stddev_ns = hist_stddev(now, before, s.count);
		s.median_ns = hist_value_at(&hist_fine, &hist, UINT64_MAX, 50.0);
		s.p99_ns = hist_tail(&hist, &s, 99.0);
		s.p999_ns = hist_tail(&hist, &s, 99.9);
		s.p9999_ns = hist_tail(&hist, &s, 99.99);
		/* subtract the overhead from each latency, but not below 0; NAN stays NAN */
		array_for_each(figure, figures, ARRAY_SIZE(figures))
			if (!isnan(**figure))
				**figure = fmax(**figure - overhead_ns, 0.0);
	}
	*ret_summary = s;
}

enum wake_verdict wake_verdict(bool claims, uint64_t claimed_ns, const struct wake_summary *summary,
			       const struct wake_evidence *evidence, double uncertainty_ns)
{
	double allowed_ns = isnan(uncertainty_ns) ? 0.0 : uncertainty_ns;

	if (!summary->count)
		return WAKE_NO_POINTS;
	if (!claims)
		return WAKE_NO_CLAIM;
	if (evidence->not_entered == summary->count)
		return WAKE_NOT_ENTERED;
	if (evidence->max_ns - summary->max_error_ns - allowed_ns > (double)claimed_ns)
		return WAKE_EXCEEDS;
	return evidence->package_can && evidence->package_awake && !evidence->package_slept
		       ? WAKE_CORE_ONLY
		       : WAKE_WITHIN;
}

/*
 * With the claimed latency of state @chosen as latency limit, the kernel permits all states up to
 * this limit. True if every permitted state fits @budget_ns.
 */
static bool admits_fitting(const struct wake_candidate *states, int nr, int chosen, double budget_ns)
{
	for (int i = 0; i < nr; i++)
		if (states[i].claimed_ns <= states[chosen].claimed_ns &&
		    !(states[i].tail_ns <= budget_ns) && (i >= chosen || !isnan(states[i].tail_ns)))
			return false;
	return true;
}

int wake_budget_state(const struct wake_candidate *states, int nr, double budget_ns)
{
	int found = -ENODATA;

	for (int i = 0; i < nr; i++) {
		if (isnan(states[i].tail_ns))
			continue;
		if (admits_fitting(states, nr, i, budget_ns))
			found = i;
		else if (found < 0)
			found = -1;
	}
	return found;
}

void wake_prewake(const struct wake_summary *timer, const struct wake_summary *remote,
		  double uncertainty_ns, struct wake_prewake *ret_prewake)
{
	struct wake_prewake p = {.ns = NAN, .ratio = NAN};

	if (timer->count && remote->count) {
		p.ns = remote->median_ns - timer->median_ns;
		if (remote->median_ns > 0)
			p.ratio = p.ns / remote->median_ns;
		/* error of each median: uncertainty of the timestamps plus a sampling error */
		p.significant = timer->count > 1 && remote->count > 1 &&
				p.ns > 2.0 * uncertainty_ns + timer->median_error_ns +
						remote->median_error_ns;
	}
	*ret_prewake = p;
}

void wake_overhead(double *cost_ns, size_t nr, struct wake_overhead *ret_overhead)
{
	struct wake_overhead o = {0};

	if (nr) {
		quantile_sort(cost_ns, nr);
		o.median_ns = cost_ns[nr / 2];
		o.spread_ns = (cost_ns[nr * 9 / 10] - cost_ns[nr / 10] + 1) / 2;
	}
	*ret_overhead = o;
}

void wake_calibrate_stamp(double *between_ns, size_t nr, size_t wanted,
			  struct wake_calibration *calibration)
{
	struct wake_overhead *stamp = &calibration->stamp;
	uint32_t half;

	calibration->known = nr && nr >= wanted / 10;
	wake_overhead(between_ns, calibration->known ? nr : 0, stamp);
	half = stamp->median_ns / 2;
	stamp->spread_ns += stamp->median_ns - half;
	stamp->median_ns = half;
}

double wake_uncertainty(const struct wake_calibration *c, unsigned int sources, double card_ns)
{
	double ns = c->known ? c->stamp.spread_ns + c->clock_step_ns : NAN;

	/*
	 * the sender takes its timestamp before it sends the IPI, so the latency includes the
	 * remaining run time of the sender's BPF program
	 */
	if (wake_has(sources, WAKE_REMOTE))
		ns += 2.0 * c->stamp.median_ns;
	if (wake_has(sources, WAKE_NIC))
		ns += card_ns;
	return ns;
}
