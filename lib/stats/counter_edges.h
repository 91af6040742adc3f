/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When counters moved: increments of a stream of readings, their intervals, and their period. */
#ifndef SUBTICK_STATS_COUNTER_EDGES_H
#define SUBTICK_STATS_COUNTER_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_EDGES_MAX_COLS 16

/*
 * Watches the columns in @mask; any of them moving is one increment. A reader that was held up
 * sees an increment too late: such a one has no stamp, and no interval to either side.
 */
struct counter_edges {
	uint32_t mask;
	bool primed;
	uint64_t last[COUNTER_EDGES_MAX_COLS];
	uint64_t last_stamp_ns; /* of the last increment, 0 when that was blurred */
	uint64_t *stamps;	/* owned */
	uint64_t *intervals;	/* owned; at most nr - 1 */
	size_t nr, nr_intervals, room;
	uint64_t blurred;
	bool out_of_memory; /* some were left out */
};

void counter_edges_init(struct counter_edges *edges, uint32_t mask);
void counter_edges_free(struct counter_edges *edges);
/*
 * True if a watched column differs from the reading before; the first reading only primes.
 * @blurred: the reading before is so long ago that nobody knows when it moved.
 */
bool counter_edges_feed(struct counter_edges *edges, const uint64_t *cols, unsigned int nr_cols, uint64_t stamp_ns,
	       bool blurred);

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
void bins_add(struct bins *bins, uint64_t value_ns);
/* Intervals between neighbouring increments. */
void bins_add_intervals(struct bins *bins, const struct counter_edges *edges);

struct bins_peak {
	double at_ns; /* mean of the bins around the top, weighted */
	uint64_t count;
	double share;
};

/* Tops that hold at least @share of all within two bins either side; in order of place. */
size_t bins_peaks(const struct bins *bins, double share, struct bins_peak *peaks, size_t max);

/*
 * How well stamps fall on a grid of @period_ns: 1 all on one phase, near 0 (about 1/√nr) spread
 * evenly. @ret_phase_ns is the place within the period, may be NULL.
 */
double tick_fit_coherence(const uint64_t *stamps, size_t nr, double period_ns, double *ret_phase_ns);

struct tick_fit {
	double hz; /* refined, not rounded */
	double period_ns;
	double coherence;
	double phase_ns;
};

#define PERIOD_MIN_INCREMENTS 32

/*
 * The longest period, between 50 and 1500 Hz, of which all intervals are multiples: shorter ones
 * (half, a third) fit as well. False below 32 increments or when nothing fits.
 */
bool tick_fit_find(const struct counter_edges *edges, struct tick_fit *ret_fit);

/* The kernel's tick for a rate: TICK_NSEC is the second over HZ, rounded. */
uint64_t tick_fit_tick_ns(unsigned int hz);

#endif
