/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When counters change: increments in a stream of readings, their intervals, and the tick. */
#ifndef SUBTICK_STATS_COUNTER_EDGES_H
#define SUBTICK_STATS_COUNTER_EDGES_H

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

#endif
