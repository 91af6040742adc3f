/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the scheduler tick in the changes of /proc/stat, and the precision of /proc/stat. */
#include "stats/audit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

void counter_edges_init(struct counter_edges *edges, uint32_t mask)
{
	*edges = (struct counter_edges){.mask = mask};
}

void counter_edges_free(struct counter_edges *edges)
{
	free(edges->stamps);
	free(edges->intervals);
	counter_edges_init(edges, edges->mask);
}

static void counter_edges_note(struct counter_edges *edges, uint64_t stamp_ns, bool blurred)
{
	if (blurred) {
		edges->blurred++;
		edges->last_stamp_ns = 0;
		return;
	}
	if (array_push(edges->stamps, edges->nr, stamp_ns) ||
	    (edges->last_stamp_ns && array_push(edges->intervals, edges->nr_intervals,
						stamp_ns - edges->last_stamp_ns))) {
		edges->out_of_memory = true;
		return;
	}
	edges->last_stamp_ns = stamp_ns;
}

bool counter_edges_feed(struct counter_edges *edges, const uint64_t *cols, unsigned int nr_cols,
			uint64_t stamp_ns, bool blurred)
{
	bool moved = false;

	/* Compare each column: in a sum, a decrease of iowait could hide an increase. */
	for (unsigned int i = 0; i < nr_cols && i < COUNTER_EDGES_MAX_COLS; i++) {
		if (!(edges->mask >> i & 1))
			continue;
		moved |= cols[i] != edges->last[i];
		edges->last[i] = cols[i];
	}
	if (edges->primed && moved)
		counter_edges_note(edges, stamp_ns, blurred);
	moved &= edges->primed;
	edges->primed = true;
	return moved;
}

int bins_init(struct bins *bins, uint64_t width_ns, size_t nr)
{
	*bins = (struct bins){.width_ns = width_ns, .nr = nr};
	bins->count = calloc(nr, sizeof(*bins->count));
	return bins->count ? 0 : -ENOMEM;
}

void bins_free(struct bins *bins)
{
	free(bins->count);
	bins->count = NULL;
}

void bins_add_intervals(struct bins *bins, const struct counter_edges *edges)
{
	array_for_each(interval, edges->intervals, edges->nr_intervals) {
		/* bins are centred on multiples of the width, so jitter stays in one bin */
		size_t bin = (*interval + bins->width_ns / 2) / bins->width_ns;

		if (bin < bins->nr)
			bins->count[bin]++;
		else
			bins->above++;
		bins->total++;
	}
}

/*
 * True if bin number @bin is a peak: none of the four bins around it has a higher count. Of several
 * bins with equal counts, only the first bin is a peak. Sets peak->count to the sum of the five
 * bins.
 */
static bool peak_at(const struct bins *bins, size_t bin, struct bins_peak *peak)
{
	size_t from = bin >= 2 ? bin - 2 : 0, to = bin + 2 < bins->nr ? bin + 2 : bins->nr - 1;
	double weighted = 0.0;

	*peak = (struct bins_peak){0};
	for (size_t i = from; i <= to; i++) {
		if (bins->count[i] > bins->count[bin] ||
		    (i < bin && bins->count[i] == bins->count[bin]))
			return false;
		peak->count += bins->count[i];
		weighted += (double)bins->count[i] * (double)i;
	}
	if (!peak->count)
		return false;
	peak->at_ns = weighted / (double)peak->count * (double)bins->width_ns;
	peak->share = (double)peak->count / (double)bins->total;
	return true;
}

size_t bins_peaks(const struct bins *bins, double share, struct bins_peak *peaks, size_t max)
{
	struct bins_peak peak;
	size_t nr = 0;

	for (size_t bin = 0; bin < bins->nr && nr < max; bin++)
		if (peak_at(bins, bin, &peak) && peak.share >= share)
			peaks[nr++] = peak;
	return nr;
}

#define MIN_HZ 50
#define MAX_HZ 1500
/*
 * The tick rate is the lowest rate with at least this share of the best score, because the rate
 * with the best score may be a multiple of the tick rate.
 */
#define AS_GOOD 0.75
#define FITS	0.5

static const double two_pi = 6.283185307179586;

double tick_fit_coherence(const uint64_t *stamps, size_t nr, double period_ns, double *ret_phase_ns)
{
	double x = 0.0, y = 0.0, phase;

	if (!nr)
		return 0.0;
	array_for_each(stamp, stamps, nr) {
		/* a double cannot hold an uptime in ns exactly, so subtract the first timestamp */
		double angle = two_pi * fmod((double)(*stamp - stamps[0]), period_ns) / period_ns;

		x += cos(angle);
		y += sin(angle);
	}
	if (ret_phase_ns) {
		uint64_t whole = (uint64_t)llround(period_ns);

		/* with a fraction of a ns in the period, the phase is exact only at stamps[0] */
		phase = atan2(y, x) / two_pi * period_ns + (double)(stamps[0] % whole);
		*ret_phase_ns = fmod(phase + 2.0 * period_ns, period_ns);
	}
	return sqrt(x * x + y * y) / (double)nr;
}

/*
 * Score of a tick rate: 1 if every interval between increments is a multiple of the tick period. An
 * error of one timestamp affects only two intervals.
 */
static double interval_score(const struct counter_edges *edges, double hz)
{
	double sum = 0.0;

	array_for_each(interval, edges->intervals, edges->nr_intervals)
		sum += cos(two_pi * (double)*interval * hz / 1e9);
	return sum / (double)edges->nr_intervals;
}

/* Refines the tick rate. An error of 0.1 % becomes a large phase error after several seconds. */
static double refine(const uint64_t *stamps, size_t nr, double hz)
{
	double span_s = (double)(stamps[nr - 1] - stamps[0]) / 1e9;
	double step = 0.1 / span_s, best_hz = hz, best = -1.0;

	for (double try = hz * 0.97; try <= hz * 1.03; try += step) {
		double coherence = tick_fit_coherence(stamps, nr, 1e9 / try, NULL);

		if (coherence > best) {
			best = coherence;
			best_hz = try;
		}
	}
	/* round a rate that is close to a whole number, because HZ is a whole number */
	if (fabs(best_hz - round(best_hz)) <= 2.0 * step &&
	    tick_fit_coherence(stamps, nr, 1e9 / round(best_hz), NULL) >= 0.98 * best)
		best_hz = round(best_hz);
	return best_hz;
}

bool tick_fit_find(const struct counter_edges *edges, struct tick_fit *ret_fit)
{
	double score[MAX_HZ + 2] = {0}, best = 0.0;
	struct tick_fit fit;

	if (edges->nr < TICK_FIT_MIN_INCREMENTS ||
	    edges->nr_intervals < TICK_FIT_MIN_INCREMENTS / 2)
		return false;
	for (int hz = MIN_HZ; hz <= MAX_HZ; hz++) {
		score[hz] = interval_score(edges, hz);
		best = fmax(best, score[hz]);
	}
	if (best < FITS)
		return false;
	for (int hz = MIN_HZ; hz <= MAX_HZ; hz++) {
		if (score[hz] < AS_GOOD * best || score[hz] < score[hz - 1] ||
		    score[hz] < score[hz + 1])
			continue;
		fit.hz = refine(edges->stamps, edges->nr, hz);
		fit.period_ns = 1e9 / fit.hz;
		fit.coherence =
			tick_fit_coherence(edges->stamps, edges->nr, fit.period_ns, &fit.phase_ns);
		if (fit.coherence < FITS)
			return false;
		*ret_fit = fit;
		return true;
	}
	return false;
}

uint64_t tick_fit_tick_ns(unsigned int hz)
{
	return (1000000000ULL + hz / 2) / hz;
}

#define MOST 0.75

void phase_plan(struct phase_probe *probes, size_t nr, uint64_t period_ns)
{
	for (size_t i = 0; i < nr; i++)
		probes[i] = (struct phase_probe){.phase_ns = i * period_ns / nr};
}

static bool is_hidden(const struct phase_probe *probe, double hidden)
{
	return probe->valid && probe->shown_ratio <= hidden * probe->true_ratio;
}

bool phase_doubtful(const struct phase_probe *probe, double hidden)
{
	return !is_hidden(probe, hidden) &&
	       !(probe->valid && probe->shown_ratio >= MOST * probe->true_ratio);
}

/*
 * True if /proc/stat shows much more than the true load. Tick accounting charges a whole tick to a
 * task that runs only for a part of the tick.
 */
static bool is_exposed(const struct phase_probe *probe, double factor)
{
	return probe->valid && probe->true_ratio > 0.0 &&
	       probe->shown_ratio >= factor * probe->true_ratio;
}

static bool longest_run(const struct phase_probe *probes, size_t nr, uint64_t period_ns,
			bool (*fits)(const struct phase_probe *, double), double limit,
			uint64_t *ret_phase_ns)
{
	size_t best = 0, best_first = 0;

	for (size_t first = 0; first < nr; first++) {
		size_t length = 0;

		while (length < nr && fits(&probes[(first + length) % nr], limit))
			length++;
		if (length > best) {
			best = length;
			best_first = first;
		}
	}
	if (!best)
		return false;
	/* twice the index of the middle, because the middle may be between two probes */
	*ret_phase_ns = (2 * best_first + best - 1) * period_ns / (2 * nr) % period_ns;
	return true;
}

bool phase_hidden(const struct phase_probe *probes, size_t nr, uint64_t period_ns, double hidden,
		  uint64_t *ret_phase_ns)
{
	return longest_run(probes, nr, period_ns, is_hidden, hidden, ret_phase_ns);
}

bool phase_exposed(const struct phase_probe *probes, size_t nr, uint64_t period_ns,
		   uint64_t *ret_phase_ns)
{
	return longest_run(probes, nr, period_ns, is_exposed, 1.2, ret_phase_ns);
}

/*
 * Two-sided quantiles of the normal distribution: 95 % (99 %) of values are within this number of
 * standard deviations.
 */
#define SIGMAS_95 1.959964
#define SIGMAS_99 2.575829

void precision_rule(double want, unsigned int user_hz, unsigned int hz,
		    struct precision *ret_precision)
{
	double step_ns = 1e9 / (double)(user_hz < hz ? user_hz : hz);
	double samples = SIGMAS_95 * SIGMAS_95 * 0.25 / (want * want);

	/* round: 0.1 % has no exact binary form, so that 10 s could become 10.000000001 s */
	ret_precision->rounding_ns = (uint64_t)llround(step_ns / want);
	ret_precision->sampling_ns = (uint64_t)llround(samples * 1e9 / (double)hz);
}

/* Error as a random walk: the variance of the error in s² is rate × window + rounding. */
struct walk {
	double rate, rounding;
};

/*
 * Fits rate and rounding to (rms × window)² by weighted least squares. The weight of a variance v
 * from n windows is n / v², because the relative standard error of v is √(2/n). If a fitted
 * parameter is negative, sets it to 0 and fits the other parameter alone.
 */
static bool walk_fit(const struct precision_point *points, size_t nr, struct walk *ret_walk)
{
	double w0 = 0.0, wt = 0.0, wtt = 0.0, wy = 0.0, wty = 0.0, det;
	size_t used = 0;

	array_for_each(point, points, nr) {
		double t = (double)point->window_ns / 1e9;
		double y = point->rms_error * point->rms_error * t * t, w;

		if (!(y > 0.0) || point->windows < PRECISION_MIN_WINDOWS)
			continue;
		w = point->windows / (y * y);
		w0 += w;
		wt += w * t;
		wtt += w * t * t;
		wy += w * y;
		wty += w * t * y;
		used++;
	}
	if (used < 2)
		return false;
	det = w0 * wtt - wt * wt;
	ret_walk->rate = (w0 * wty - wt * wy) / det;
	ret_walk->rounding = (wtt * wy - wt * wty) / det;
	if (ret_walk->rate < 0.0)
		*ret_walk = (struct walk){0.0, wy / w0};
	else if (ret_walk->rounding < 0.0)
		*ret_walk = (struct walk){wty / wtt, 0.0};
	return true;
}

uint64_t precision_estimate(double want, const struct precision_point *points, size_t nr,
			    double bias, uint64_t total_ns)
{
	double total = (double)total_ns / 1e9, z2 = SIGMAS_95 * SIGMAS_95, window;
	struct walk walk;

	if (!total_ns || !walk_fit(points, nr, &walk))
		return 0;
	/* The bias is systematic if a random walk would exceed it in only 1 % of cases. */
	bias = fabs(bias);
	if (bias > SIGMAS_99 * sqrt(walk.rate / total + walk.rounding / (total * total)))
		want -= bias;
	if (want <= 0.0)
		return 0;
	window = (z2 * walk.rate +
		  sqrt(z2 * z2 * walk.rate * walk.rate + 4.0 * want * want * z2 * walk.rounding)) /
		 (2.0 * want * want);
	return (uint64_t)llround(window * 1e9);
}
