/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the scheduler tick in /proc/stat, phases that hide a periodic load, and the precision. */
#ifndef SUBTICK_STATS_AUDIT_H
#define SUBTICK_STATS_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_EDGES_MAX_COLS 16

/*
 * Increments of the columns @mask of /proc/stat, and the intervals between them. An increment is a
 * change between two reads. If the second read was delayed, the increment is blurred: it has no
 * timestamp, and the intervals before and after it are dropped.
 */
struct counter_edges {
	uint32_t mask;
	bool primed;
	uint64_t last[COUNTER_EDGES_MAX_COLS];
	uint64_t last_stamp_ns; /* timestamp of the last increment; 0 if the increment is blurred */
	uint64_t *stamps;	/* allocated array */
	/* allocated array of the intervals between increments; at most nr - 1 elements */
	uint64_t *intervals;
	size_t nr, nr_intervals;
	uint64_t blurred;
	bool out_of_memory; /* some increments were not stored, because an allocation failed */
};

void counter_edges_init(struct counter_edges *edges, uint32_t mask);
void counter_edges_free(struct counter_edges *edges);
/* Adds one read of /proc/stat. Returns true if a column changed, at an unknown time if @blurred. */
bool counter_edges_feed(struct counter_edges *edges, const uint64_t *cols, unsigned int nr_cols,
			uint64_t stamp_ns, bool blurred);

/* A histogram whose bins have equal width. */
struct bins {
	uint64_t width_ns;
	uint64_t *count;
	size_t nr;
	uint64_t above; /* number of values above the range of the last bin */
	uint64_t total;
};

int bins_init(struct bins *bins, uint64_t width_ns, size_t nr);
void bins_free(struct bins *bins);
/* Adds the intervals between successive increments to the histogram. */
void bins_add_intervals(struct bins *bins, const struct counter_edges *edges);

struct bins_peak {
	double at_ns; /* weighted mean of the bins around the peak */
	uint64_t count;
	double share;
};

/* Finds the peaks, ascending, whose five bins (two on each side) have @share of all values. */
size_t bins_peaks(const struct bins *bins, double share, struct bins_peak *peaks, size_t max);

/* Coherence: 1 for equal phases, about 1/√nr for random phases. @ret_phase_ns may be NULL. */
double tick_fit_coherence(const uint64_t *stamps, size_t nr, double period_ns, double *ret_phase_ns);

struct tick_fit {
	double hz; /* tick rate, refined and not rounded */
	double period_ns;
	double coherence;
	double phase_ns;
};

#define TICK_FIT_MIN_INCREMENTS 32

/*
 * Finds the tick rate between 50 and 1500 Hz: the longest period of which all intervals between
 * increments are multiples. Returns false if no period fits, or with fewer than 32 increments.
 */
bool tick_fit_find(const struct counter_edges *edges, struct tick_fit *ret_fit);

/* TICK_NSEC of the kernel: one second divided by HZ, rounded. */
uint64_t tick_fit_tick_ns(unsigned int hz);

struct phase_probe {
	uint64_t phase_ns;
	double true_ratio;
	double shown_ratio;
	bool valid; /* the load was measured at the phase of the probe */
};

/* Sets the phases of the probes, spread evenly over the period. */
void phase_plan(struct phase_probe *probes, size_t nr, uint64_t period_ns);

/*
 * True if the probe is unusable. /proc/stat shows all or nothing of a load that always runs at one
 * phase: usable probes show at most @hidden, or most, of the true load.
 */
bool phase_doubtful(const struct phase_probe *probe, double hidden);

/*
 * Finds the longest circular run of phases at which /proc/stat shows at most @hidden of the true
 * load. Stores its middle, where a task stays hidden even if it wakes up late. Returns false
 * without a hidden phase.
 */
bool phase_hidden(const struct phase_probe *probes, size_t nr, uint64_t period_ns, double hidden,
		  uint64_t *ret_phase_ns);
/*
 * Finds the longest run at which /proc/stat shows more than the true load, as phase_hidden() does.
 */
bool phase_exposed(const struct phase_probe *probes, size_t nr, uint64_t period_ns,
		   uint64_t *ret_phase_ns);

struct precision {
	/* window length of which one step (1/USER_HZ, or a longer tick) is the share @want */
	uint64_t rounding_ns;
	/*
	 * Window length at which the sampling error (a tick counts as entirely busy or idle) is at
	 * most @want in 95 % of windows, in the worst case: a load of 50 % that is not synchronous
	 * with the tick. For a synchronous load no window length is enough.
	 */
	uint64_t sampling_ns;
};

/* Computes the window lengths for an error of @want, which is above 0 and at most 1. */
void precision_rule(double want, unsigned int user_hz, unsigned int hz,
		    struct precision *ret_precision);

/* Minimum number of windows of a precision_point that precision_estimate() uses. */
#define PRECISION_MIN_WINDOWS 5

/* Measured errors of the load that /proc/stat shows in windows of one length. */
struct precision_point {
	uint64_t window_ns;
	double rms_error;
	double windows; /* number of windows that do not overlap */
};

/*
 * Estimates the window length at which the error of /proc/stat is at most @want in 95 % of windows,
 * from measured errors of shorter windows and @bias, the error over @total_ns. Model: a random walk
 * with one step per tick, plus rounding at both ends of the window. A larger bias is systematic,
 * and does not decrease with longer windows. Returns 0 if no window is long enough, or if there are
 * too few points.
 */
uint64_t precision_estimate(double want, const struct precision_point *points, size_t nr,
			    double bias, uint64_t total_ns);

#endif
