/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computations of wake latency: validity of wake-ups, clock mapping, summaries and verdicts. */
#ifndef SUBTICK_STATS_WAKE_H
#define SUBTICK_STATS_WAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/wake.h"

enum wake_source {
	WAKE_TIMER,
	WAKE_REMOTE,
	WAKE_NIC,
	WAKE_PASSIVE,
	WAKE_NR_SOURCES,
};

/* Names indexed by enum wake_source, terminated by NULL. */
extern const char *const wake_source_names[];

/* True if the bit set @sources contains @source. */
static inline bool wake_has(unsigned int sources, enum wake_source source)
{
	return sources >> source & 1;
}

/* Reason to reject a measured wake-up. WAKE_TAKEN marks a valid one. */
enum wake_reject {
	WAKE_TAKEN,
	/* The launch was due before the CPU went idle, or the CPU never went idle. */
	WAKE_REJ_BEFORE_IDLE,
	/* Another event woke the idle CPU before the launch. */
	WAKE_REJ_WOKEN_EARLY,
	/*
	 * An unrelated interrupt or timer came between the launch and the interrupt of the launch.
	 */
	WAKE_REJ_OTHER_FIRST,
	/*
	 * According to the timestamps the CPU was awake before the launch, because of a clock error
	 * or rounding.
	 */
	WAKE_REJ_NEGATIVE,
	WAKE_REJ_ELSEWHERE,   /* the timer expired on another CPU than the measured CPU */
	WAKE_REJ_NMI,
	WAKE_REJ_LOST, /* the launch has no timestamp, or the CPU did not wake up */
	WAKE_NR_REJECTS,
};

/* Names of enum wake_reject. A JSON key is one of these names and a suffix. */
extern const char *const wake_reject_names[];

/* Order of the idle exit event and the interrupt handler. */
enum wake_order {
	WAKE_EXIT_FIRST,
	WAKE_IRQ_FIRST,
	WAKE_NO_IRQ, /* polling or mwait: the CPU woke without an interrupt */
	WAKE_NR_ORDERS,
};

extern const char *const wake_order_names[]; /* names of enum wake_order, indexed by its values */

/* Evidence that the CPU entered the requested idle state, or that the package slept. */
enum wake_entered {
	WAKE_ENTERED_UNKNOWN,
	WAKE_ENTERED_NO,
	WAKE_ENTERED_YES,
};

/* One measured wake-up of a CPU. */
struct wake_point {
	uint64_t launch_ns;
	uint32_t distance_ns; /* requested launch distance, the time from arming to launch */
	uint32_t silent_ns;   /* ns from idle entry to launch */
	/*
	 * wake latency in ns, without the overhead of measuring; invalid if the wake-up is rejected
	 */
	int32_t latency_ns;
	int32_t exit_ns;      /* ns from launch to idle exit, including the overhead of measuring */
	/* ns from launch to interrupt handler, or INT32_MIN without an interrupt */
	int32_t irq_ns;
	uint32_t expire_ns;   /* ns from launch to timer handler, or 0 if not seen */
	uint32_t switch_ns;   /* ns from launch to context switch, or 0 if not requested */
	uint32_t user_ns;
	uint16_t state;
	uint8_t source;
	uint8_t order;
	uint8_t reject;
	uint8_t how;	 /* enum wake_how */
	uint8_t entered; /* enum wake_entered of the CPU for the requested idle state */
	uint8_t package; /* enum wake_entered of the package for any sleep state */
	uint8_t round;	 /* number of the experiment's round; each round forces one idle state */
	uint8_t pad[3];
};

/* Timestamps of one wake-up, the input of wake_judge(). */
struct wake_raw {
	enum wake_source source;
	const struct wake_kpoint *k;
	uint64_t launch_ns;
	uint64_t distance_ns;
	uint64_t user_ns;     /* timestamp in user code, or 0 if missing */
	uint32_t overhead_ns; /* overhead of the idle exit timestamp */
	int64_t offset_ns;    /* source nic: time from launch to interrupt, which is subtracted */
	uint32_t how;
	bool irq_ours; /* source nic: the interrupt belongs to the network card */
};

void wake_judge(const struct wake_raw *raw, struct wake_point *ret_point);

/* Interrupt offset of the Intel i210 network card, from the thesis in docs/methods/wake.md. */
#define WAKE_I210_IRQ_OFFSET_NS 1800

/*
 * Time from launch to interrupt for source nic. In a deep idle state the wake-up overlaps the DMA
 * read (equation 8 of the thesis). In a shallow state the DMA read precedes the wake-up (equation
 * 9).
 */
int64_t wake_nic_offset(bool deep, int64_t dma_ns, int64_t irq_offset_ns);

/*
 * Launch distances (times from arming to launch) of a measurement, from @from_ns to at most @to_ns.
 * Each distance is longer by the factor @step: 1.1 is 10 % longer.
 */
struct wake_sweep {
	uint64_t from_ns;
	uint64_t to_ns;
	double step;
	uint32_t points; /* wake-ups per step */
};

uint32_t wake_sweep_steps(const struct wake_sweep *sweep);
uint64_t wake_sweep_distance(const struct wake_sweep *sweep, uint32_t step);
/* Sum of all launch distances of a measurement in ns, with one wake-up per distance. */
uint64_t wake_sweep_total_ns(const struct wake_sweep *sweep);
/*
 * Share of the measurement's duration, from 0 to 1, that the first @done wake-ups take with
 * @sources sources.
 */
double wake_sweep_share(const struct wake_sweep *sweep, uint64_t done, unsigned int sources);

/* Summary of the wake latencies of one idle state, CPU and source. */
struct wake_summary {
	uint64_t count;
	double min_ns, median_ns, mean_ns, stddev_ns;
	double p25_ns, p75_ns; /* NAN for source passive */
	double p99_ns, p999_ns, p9999_ns, max_ns;
	double median_error_ns; /* half width of the 99.7 % confidence interval of the median */
	/* Possible overestimate of the maximum, in later windows of source passive. */
	double max_error_ns;
	uint64_t near_max;	/* number of values above 90 % of the maximum */
};

/*
 * Computes the summary and sorts @latency_ns. A percentile with too few values is NAN. If there are
 * no values, all figures are NAN.
 */
void wake_summarize(double *latency_ns, size_t nr, struct wake_summary *ret_summary);
/* Computes the range [@ret_first, @ret_end) of histogram buckets that may be nonempty. */
void wake_hist_range(const struct wake_hist *hist, unsigned int *ret_first, unsigned int *ret_end);
/*
 * Summary of the latencies that were added between the snapshots @before and @now of a histogram of
 * source passive. The summary is empty if both pointers are equal.
 */
void wake_summarize_hist(const struct wake_hist *now, const struct wake_hist *before,
			 uint32_t overhead_ns, struct wake_summary *ret_summary);

enum wake_verdict {
	WAKE_NO_CLAIM,
	WAKE_WITHIN,
	WAKE_EXCEEDS,
	WAKE_NO_POINTS,
	WAKE_NOT_ENTERED, /* the CPU never entered the requested idle state */
	/* the latency is within the claimed exit latency, but the package never slept */
	WAKE_CORE_ONLY,
};

/* names of enum wake_verdict, indexed by its values */
extern const char *const wake_verdict_names[];

/* Idle depth of CPU and package in the wake-ups of one idle state. */
struct wake_evidence {
	/*
	 * Number of wake-ups before which the CPU entered the idle state, and before which it did
	 * not. Of other wake-ups this is unknown.
	 */
	uint64_t entered, not_entered;
	/* Maximum latency of the wake-ups that may have been from the idle state. */
	double max_ns;
	/*
	 * Numbers of wake-ups with a sleeping package and with an awake package, among the wake-ups
	 * that may have been from the idle state.
	 */
	uint64_t package_slept, package_awake;
	bool package_can; /* a CPU in this idle state lets the package sleep */
};

/*
 * Compares the maximum latency with the exit latency that the idle driver claims. The verdict is
 * positive if the maximum exceeds the claimed exit latency by at most the uncertainty. An unknown
 * uncertainty (NAN) counts as 0. The claimed exit latency includes the wake-up of the package, so
 * the verdict is core-only if the package never slept.
 */
enum wake_verdict wake_verdict(bool claims, uint64_t claimed_ns, const struct wake_summary *summary,
			       const struct wake_evidence *evidence, double uncertainty_ns);

/* An idle state as a candidate for a latency budget. */
struct wake_candidate {
	/* Exit latency that the idle driver claims. The kernel compares it with a latency limit. */
	uint64_t claimed_ns;
	/*
	 * 99.9th percentile of the wake latency in ns, plus the uncertainty of this percentile; NAN
	 * if not measured.
	 */
	double tail_ns;
};

/*
 * Deepest idle state that a latency limit can admit within the latency budget. @states are sorted
 * from shallow to deep. The limit is the claimed latency of the chosen state. Every state with a
 * claimed latency up to the limit must fit the budget. An unmeasured state counts as fitting only
 * if it is shallower than the chosen state. Returns -1 if no state fits, and -ENODATA if no state
 * was measured.
 */
int wake_budget_state(const struct wake_candidate *states, int nr, double budget_ns);

/* Pre-wake: a CPU wakes up in advance for its own timer, which reduces the wake latency. */
struct wake_prewake {
	double ns;
	double ratio;	  /* @ns divided by the median wake latency of source remote */
	bool significant; /* the difference of the two latencies exceeds the uncertainty */
};

void wake_prewake(const struct wake_summary *timer, const struct wake_summary *remote,
		  double uncertainty_ns, struct wake_prewake *ret_prewake);

/* Cost of one timestamp, from repeated reads. */
struct wake_overhead {
	uint32_t median_ns;
	uint32_t spread_ns; /* half of the distance from the 10th to the 90th percentile, in ns */
};

/* Computes median and spread of @cost_ns, and sorts @cost_ns. */
void wake_overhead(double *cost_ns, size_t nr, struct wake_overhead *ret_overhead);
/* Overhead of measuring on one CPU. */
struct wake_calibration {
	bool known;
	struct wake_overhead stamp; /* delay from the idle exit event to its timestamp */
	uint32_t clock_step_ns;	    /* smallest observed step of the clock */
	uint32_t clock_read_ns;	    /* median cost of reading the clock in user code */
	struct wake_summary busy;   /* interrupt latency of a CPU that is never idle */
};

/*
 * Sets the members known and stamp. @between_ns has @nr differences between the timestamps of two
 * BPF programs on the same event; the function sorts it. The delay from tracepoint to timestamp is
 * between 0 and the median of these times; half of the median is used. If @nr is less than a tenth
 * of @wanted, the delay is unknown and 0.
 */
void wake_calibrate_stamp(double *between_ns, size_t nr, size_t wanted,
			  struct wake_calibration *calibration);

/*
 * Uncertainty of a wake latency, or NAN without a calibration. @card_ns: error bound of the clock
 * of the network card.
 */
double wake_uncertainty(const struct wake_calibration *calibration, unsigned int sources,
			double card_ns);

/* A reading of two clocks: the clock of the network card between two reads of the system clock. */
struct wake_clock_sample {
	int64_t before_ns;
	int64_t device_ns;
	int64_t after_ns;
};

/*
 * A fix: the times of device clock and system clock at one moment, and the error bound of the
 * system time.
 */
struct wake_clock_fix {
	int64_t device_ns;
	int64_t system_ns;
	int64_t half_window_ns;
};

/*
 * Finds the reading with the shortest time between its two system clock reads. -EINVAL if time runs
 * backward in all readings.
 */
int wake_clock_tightest(const struct wake_clock_sample *samples, size_t nr,
			struct wake_clock_fix *ret_fix);

/*
 * Minimum distance of two device clocks: the measured distance minus the error bounds of both
 * fixes; 0 if the bounds are larger.
 */
int64_t wake_clock_ahead(const struct wake_clock_fix *a, const struct wake_clock_fix *b);

/*
 * Linear map between device clock and system clock through two fixes. A single fix (b == a) assumes
 * equal rates.
 */
struct wake_clock_map {
	struct wake_clock_fix a, b;
};

int64_t wake_clock_to_system(const struct wake_clock_map *map, int64_t device_ns);
int64_t wake_clock_to_device(const struct wake_clock_map *map, int64_t system_ns);
double wake_clock_drift_ppb(const struct wake_clock_map *map);
/*
 * Error bound of a mapped time. Between the two fixes the error bound is interpolated. Outside of
 * the fixes, the error bound grows with the distance from the fixes.
 */
int64_t wake_clock_uncertainty(const struct wake_clock_map *map, int64_t device_ns);

#endif
