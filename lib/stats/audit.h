/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the scheduler tick in the changes of /proc/stat, finds phases of the tick that hide a
 * periodic load, and estimates the precision of /proc/stat.
 */
#ifndef SUBTICK_STATS_AUDIT_H
#define SUBTICK_STATS_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_EDGES_MAX_COLS 16

/*
 * Increments of the columns @mask of /proc/stat, and the intervals between them. An increment is a
 * change of one or more columns between two reads. If the second read was delayed, the time of the
 * increment is unknown: the increment is blurred. A blurred increment has no timestamp, and the
 * intervals before and after it are dropped.
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
/*
 * Adds the values @cols of one read of /proc/stat to @edges. Returns true if a column in the mask
 * changed since the previous read. @blurred is true if the time of the change is unknown.
 */
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

/*
 * Finds the peaks of a histogram in ascending order. Finds only peaks whose five bins (the bin of
 * the peak and two bins on each side) contain at least @share of all values. Returns the number of
 * peaks.
 */
size_t bins_peaks(const struct bins *bins, double share, struct bins_peak *peaks, size_t max);

/*
 * Coherence of timestamps with a period: 1 if all timestamps have the same phase, and about 1/√nr
 * for random phases. The mean phase is stored in @ret_phase_ns, which may be NULL.
 */
double tick_fit_coherence(const uint64_t *stamps, size_t nr, double period_ns, double *ret_phase_ns);

struct tick_fit {
	double hz; /* tick rate, refined and not rounded */
	double period_ns;
	double coherence;
	double phase_ns;
};

#define TICK_FIT_MIN_INCREMENTS 32

/*
 * Finds the tick rate: the lowest rate between 50 and 1500 Hz at which the intervals between
 * increments are multiples of the period. Returns false if no rate fits, or if there are fewer than
 * 32 increments or 16 intervals.
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
 * True if the probe is invalid or ambiguous. Tick accounting shows either all or nothing of a load
 * that always runs at one phase of the tick. A probe is ambiguous if /proc/stat shows more than
 * @hidden, but not most, of the true load.
 */
bool phase_doubtful(const struct phase_probe *probe, double hidden);

/*
 * Finds the longest circular run of hidden phases: phases at which /proc/stat shows at most @hidden
 * of the true load. Stores the middle of the run, because a task at the middle stays hidden even if
 * the task wakes up late. Returns false if there is no hidden phase.
 */
bool phase_hidden(const struct phase_probe *probes, size_t nr, uint64_t period_ns, double hidden,
		  uint64_t *ret_phase_ns);
/*
 * Like phase_hidden(), for exposed phases: phases at which /proc/stat shows much more than the true
 * load.
 */
bool phase_exposed(const struct phase_probe *probes, size_t nr, uint64_t period_ns,
		   uint64_t *ret_phase_ns);

struct precision {
	/*
	 * Window length at which an error of one step of /proc/stat is @want. A step is 1/USER_HZ,
	 * or one tick if a tick is longer.
	 */
	uint64_t rounding_ns;
	/*
	 * Window length at which the sampling error of /proc/stat is at most @want in 95 % of
	 * windows. Sampling error: each tick counts the CPU as either busy or idle for the whole
	 * tick. sampling_ns is computed for the worst case, a load of 50 % that is not synchronous
	 * with the tick. For a synchronous load no window is long enough.
	 */
	uint64_t sampling_ns;
};

/*
 * Computes the window lengths for an error of @want in the load that /proc/stat shows. @want is
 * above 0 and at most 1.
 */
void precision_rule(double want, unsigned int user_hz, unsigned int hz,
		    struct precision *ret_precision);

/* precision_estimate() ignores points with fewer windows. */
#define PRECISION_MIN_WINDOWS 5

/* Errors of the CPU load by /proc/stat, measured in windows of the same length. */
struct precision_point {
	uint64_t window_ns;
	double rms_error;
	double windows; /* number of windows that do not overlap */
};

/*
 * Estimates the window length in ns at which the error of /proc/stat is at most @want in 95 % of
 * windows. @points are measured errors of shorter windows. @bias is the error over the whole time
 * @total_ns. In the model, the error is a random walk with one step per tick, plus rounding at both
 * ends of the window. A bias that is too large for the random walk is systematic, and does not
 * decrease with longer windows. Returns 0 if no window is long enough, or if there are too few
 * points.
 */
uint64_t precision_estimate(double want, const struct precision_point *points, size_t nr,
			    double bias, uint64_t total_ns);

#endif
