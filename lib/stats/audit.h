/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ticks in /proc/stat: increments, tick period, hidden phases, precision of windows. */
#ifndef SUBTICK_STATS_AUDIT_H
#define SUBTICK_STATS_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_EDGES_MAX_COLS 16

/*
 * The increments of the columns in @mask: a change of any of them is one increment. If the reader
 * was delayed, the time of the increment is unknown (blurred): it has no stamp, and no interval
 * before or after it.
 */
struct counter_edges {
	uint32_t mask;
	bool primed;
	uint64_t last[COUNTER_EDGES_MAX_COLS];
	uint64_t last_stamp_ns; /* of the last increment, 0 if that was blurred */
	uint64_t *stamps;	/* owned */
	uint64_t *intervals;	/* owned; at most nr - 1 */
	size_t nr, nr_intervals;
	uint64_t blurred;
	bool out_of_memory; /* some increments are missing */
};

void counter_edges_init(struct counter_edges *edges, uint32_t mask);
void counter_edges_free(struct counter_edges *edges);
/* True if a watched column changed since the previous reading. @blurred: at an unknown time. */
bool counter_edges_feed(struct counter_edges *edges, const uint64_t *cols, unsigned int nr_cols,
			uint64_t stamp_ns, bool blurred);

/* A histogram with bins of equal width. */
struct bins {
	uint64_t width_ns;
	uint64_t *count;
	size_t nr;
	uint64_t above; /* beyond the last bin */
	uint64_t total;
};

int bins_init(struct bins *bins, uint64_t width_ns, size_t nr);
void bins_free(struct bins *bins);
/* Adds the intervals between successive increments. */
void bins_add_intervals(struct bins *bins, const struct counter_edges *edges);

struct bins_peak {
	double at_ns; /* weighted mean of the bins around the peak */
	uint64_t count;
	double share;
};

/* Peaks that have at least @share of all values within two bins of them, in ascending order. */
size_t bins_peaks(const struct bins *bins, double share, struct bins_peak *peaks, size_t max);

/*
 * How well stamps fit a period of @period_ns: 1 if all are at one phase, about 1/√nr if they are
 * spread evenly. @ret_phase_ns is the phase; may be NULL.
 */
double tick_fit_coherence(const uint64_t *stamps, size_t nr, double period_ns, double *ret_phase_ns);

struct tick_fit {
	double hz; /* refined, not rounded */
	double period_ns;
	double coherence;
	double phase_ns;
};

#define TICK_FIT_MIN_INCREMENTS 32

/*
 * The tick: the longest period, between 50 and 1500 Hz, of which all intervals are multiples (half
 * and a third of it fit as well). False if there are fewer than 32 increments or nothing fits.
 */
bool tick_fit_find(const struct counter_edges *edges, struct tick_fit *ret_fit);

/* The kernel's TICK_NSEC: one second divided by HZ, rounded. */
uint64_t tick_fit_tick_ns(unsigned int hz);

struct phase_probe {
	uint64_t phase_ns;
	double true_ratio;
	double shown_ratio;
	bool valid; /* was measured */
};

/* Spreads the probes evenly over the period. */
void phase_plan(struct phase_probe *probes, size_t nr, uint64_t period_ns);

/*
 * The tick samples every burn of a phase or none. True if the probe is unusable: not measured, or it
 * shows more than @hidden of the true load but not most of it, as at the edge of a hidden phase.
 */
bool phase_doubtful(const struct phase_probe *probe, double hidden);

/*
 * The middle of the longest run of probes, around the circle, that show at most @hidden of the true
 * load. The middle leaves the most room for late wake-ups. False if no probe is hidden.
 */
bool phase_hidden(const struct phase_probe *probes, size_t nr, uint64_t period_ns, double hidden,
		  uint64_t *ret_phase_ns);
/* The middle of the longest run of probes that show more than the true load; false if none does. */
bool phase_exposed(const struct phase_probe *probes, size_t nr, uint64_t period_ns,
		   uint64_t *ret_phase_ns);

struct precision {
	/* In this window one step of the figures (1/USER_HZ, or the tick if longer) is @want. */
	uint64_t rounding_ns;
	/*
	 * Each tick is one sample of whether the core is busy. For a load that is not synchronous
	 * with the tick, 95 % of windows of this length are within @want of the truth at half load,
	 * which is the worst case. For a synchronous load no window is long enough.
	 */
	uint64_t sampling_ns;
};

/* @want 0…1, above 0. */
void precision_rule(double want, unsigned int user_hz, unsigned int hz,
		    struct precision *ret_precision);

/* Points with fewer windows are not used. */
#define PRECISION_MIN_WINDOWS 5

/* The errors measured in windows of one length. */
struct precision_point {
	uint64_t window_ns;
	double rms_error;
	double windows; /* number of windows that do not overlap */
};

/*
 * The window length from which on 95 % of errors are within @want, estimated from shorter windows.
 * 0 if no window is long enough, or if the points are too few. @bias is the error over all of
 * @total_ns.
 *
 * The error in seconds is a random walk: one step per tick, plus the rounding at both ends. So its
 * variance is rate × window + rounding. Both terms are fitted to short windows, of which there are
 * many; the error of a single long window would be random. If the error over all of the time is
 * larger than the walk explains, it is systematic and does not shrink with the window.
 */
uint64_t precision_estimate(double want, const struct precision_point *points, size_t nr,
			    double bias, uint64_t total_ns);

#endif
