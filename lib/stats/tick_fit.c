/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the tick: the period of which the intervals between increments are multiples. */
#include "stats/counter_edges.h"

#include <math.h>

#define MIN_HZ 50
#define MAX_HZ 1500
/* The best fit may be a harmonic of the tick; a lower rate that fits this well is the tick. */
#define AS_GOOD 0.75
#define FITS	0.5

static const double two_pi = 6.283185307179586;

double tick_fit_coherence(const uint64_t *stamps, size_t nr, double period_ns, double *ret_phase_ns)
{
	double x = 0.0, y = 0.0, phase;

	if (!nr)
		return 0.0;
	for (size_t i = 0; i < nr; i++) {
		/* Relative to the first stamp: an uptime in ns has too many digits for a double. */
		double angle =
			two_pi * fmod((double)(stamps[i] - stamps[0]), period_ns) / period_ns;

		x += cos(angle);
		y += sin(angle);
	}
	if (ret_phase_ns) {
		uint64_t whole = (uint64_t)llround(period_ns);

		/* If the period is not a whole number of ns, this is the phase at the first stamp. */
		phase = atan2(y, x) / two_pi * period_ns + (double)(stamps[0] % whole);
		*ret_phase_ns = fmod(phase + 2.0 * period_ns, period_ns);
	}
	return sqrt(x * x + y * y) / (double)nr;
}

/* 1 if every interval is a multiple of the period; an error in one does not affect the next. */
static double interval_score(const struct counter_edges *edges, double hz)
{
	double sum = 0.0;

	for (size_t i = 0; i < edges->nr_intervals; i++)
		sum += cos(two_pi * (double)edges->intervals[i] * hz / 1e9);
	return sum / (double)edges->nr_intervals;
}

/* Refines the rate: over seconds of stamps even 0.1 % of it is a large change of phase. */
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
	/* HZ is a whole number: if the rate is close to one, use that. */
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
