/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Evaluates measured wake-ups: validity, conversion between clocks, summaries of latencies, and
 * verdicts on idle states.
 */
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

static inline bool wake_has(unsigned int sources, enum wake_source source)
{
	return sources >> source & 1;
}

/* Reason to reject a measured wake-up. WAKE_TAKEN is the value of a valid wake-up. */
enum wake_reject {
	WAKE_TAKEN,
	/* the launch time was before idle entry, or the CPU never went idle */
	WAKE_REJ_BEFORE_IDLE,
	/* another event woke the idle CPU before the launch */
	WAKE_REJ_WOKEN_EARLY,
	/*
	 * an unrelated interrupt or timer occurred between the launch and the interrupt that the
	 * launch causes
	 */
	WAKE_REJ_OTHER_FIRST,
	/* the computed latency is negative: the CPU seems to have been awake before the launch */
	WAKE_REJ_NEGATIVE,
	WAKE_REJ_ELSEWHERE,   /* the timer did not expire on the measured CPU */
	WAKE_REJ_NMI,
	WAKE_REJ_LOST, /* the launch has no timestamp, or the CPU did not wake up */
	WAKE_NR_REJECTS,
};

/* Names of the values of enum wake_reject. JSON keys of reject counters begin with these names. */
extern const char *const wake_reject_names[];

/* Order of the idle exit event and the interrupt handler. */
enum wake_order {
	WAKE_EXIT_FIRST,
	WAKE_IRQ_FIRST,
	WAKE_NO_IRQ, /* polling or mwait: the CPU woke without an interrupt */
	WAKE_NR_ORDERS,
};

extern const char *const wake_order_names[]; /* names of enum wake_order, indexed by its values */

/*
 * Two answers about each wake-up: whether the CPU entered the requested idle state, and whether the
 * package slept.
 */
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
	/* wake latency in ns without the measuring overhead; invalid after a rejection */
	int32_t latency_ns;
	int32_t exit_ns; /* ns from launch to idle exit, with the measuring overhead included */
	/* ns from launch to interrupt handler, or INT32_MIN without an interrupt */
	int32_t irq_ns;
	/* ns from launch to the timer's callback, or 0 if the callback was not recorded */
	uint32_t expire_ns;
	/* ns from launch to context switch, or 0 if this time was not requested */
	uint32_t switch_ns;
	uint32_t user_ns;
	uint16_t state;
	uint8_t source;
	uint8_t order;
	uint8_t reject;
	uint8_t how;	 /* enum wake_how: event that counts as the launch */
	uint8_t entered; /* enum wake_entered: whether the CPU entered the requested idle state */
	uint8_t package; /* enum wake_entered: whether the package entered any sleep state */
	uint8_t round; /* number of the experiment's round; a round may force an idle state */
	uint8_t pad[3];
};

/* Timestamps of one wake-up, the input of wake_judge(). */
struct wake_raw {
	enum wake_source source;
	const struct wake_kpoint *k;
	uint64_t launch_ns;
	uint64_t distance_ns;
	uint64_t user_ns;     /* timestamp in user code after the wake-up, or 0 if missing */
	uint32_t overhead_ns; /* overhead of the idle exit timestamp */
	/* source nic: time from launch to interrupt, which is subtracted from the latency */
	int64_t offset_ns;
	uint32_t how;
	bool irq_ours; /* source nic: the interrupt belongs to the network card */
};

void wake_judge(const struct wake_raw *raw, struct wake_point *ret_point);

/* Interrupt offset of the Intel i210 in ns, from the thesis that docs/methods/wake.md cites. */
#define WAKE_I210_IRQ_OFFSET_NS 1800

/*
 * Time in ns from launch to interrupt for source nic, by equations 8 and 9 of the thesis that
 * docs/methods/wake.md cites. In a deep idle state the wake-up of the CPU overlaps the DMA read of
 * the card. In a shallow idle state the DMA read ends before the wake-up begins.
 */
int64_t wake_nic_offset(bool deep, int64_t dma_ns, int64_t irq_offset_ns);

/*
 * Launch distances (times from arming to launch) of a measurement, from @from_ns to at most @to_ns.
 * Each launch distance is the previous launch distance times @step, such as 1.1.
 */
struct wake_sweep {
	uint64_t from_ns;
	uint64_t to_ns;
	double step;
	uint32_t points; /* number of wake-ups per launch distance */
};

uint32_t wake_sweep_steps(const struct wake_sweep *sweep);
uint64_t wake_sweep_distance(const struct wake_sweep *sweep, uint32_t step);
/* Returns the sum of the launch distances in ns. Each distance counts once. */
uint64_t wake_sweep_total_ns(const struct wake_sweep *sweep);
/*
 * Progress of a measurement in time, from 0 to 1, after @done wake-ups. @sources is the number of
 * wake-up sources.
 */
double wake_sweep_share(const struct wake_sweep *sweep, uint64_t done, unsigned int sources);

/* Summary of the wake latencies of one idle state, CPU and source. */
struct wake_summary {
	uint64_t count;
	double min_ns, median_ns, mean_ns, stddev_ns;
	double p25_ns, p75_ns; /* quartiles; NAN for source passive */
	double p99_ns, p999_ns, p9999_ns, max_ns;
	double median_error_ns; /* half width of the 99.7 % confidence interval of the median */
	/*
	 * Maximum error of `max_ns`. For source passive, `max_ns` may be too high in all windows
	 * except the first.
	 */
	double max_error_ns;
	uint64_t near_max;	/* number of latencies above 90 % of `max_ns` */
};

/*
 * Computes the summary and sorts @latency_ns. Percentiles with too few values are NAN. Without any
 * values, all latencies of @ret_summary are NAN.
 */
void wake_summarize(double *latency_ns, size_t nr, struct wake_summary *ret_summary);
/* Computes the range [@ret_first, @ret_end) of histogram buckets that may be nonempty. */
void wake_hist_range(const struct wake_hist *hist, unsigned int *ret_first, unsigned int *ret_end);
/*
 * Summarizes the latencies that a histogram of source passive counted between the snapshots @before
 * and @now. The summary is empty if @before and @now are equal pointers.
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

/*
 * Numbers of wake-ups from one idle state, by the sleep state of the CPU and of the package before
 * the wake-up.
 */
struct wake_evidence {
	/*
	 * number of wake-ups before which the CPU had entered, or had not entered, the idle state;
	 * unknown wake-ups are not counted
	 */
	uint64_t entered, not_entered;
	/* maximum latency of the wake-ups that may have been from the idle state */
	double max_ns;
	/* number of wake-ups, except not_entered, before which the package slept or was awake */
	uint64_t package_slept, package_awake;
	bool package_can; /* true if the package can sleep while a CPU is in the idle state */
};

/*
 * Compares the maximum latency with the exit latency that the idle driver claims. The verdict is
 * positive if the maximum latency, minus its error, is at most the claimed exit latency plus
 * @uncertainty_ns. An unknown uncertainty (NAN) counts as 0. If the package never slept, the
 * positive verdict is WAKE_CORE_ONLY, because the claimed exit latency includes the wake-up of the
 * package.
 */
enum wake_verdict wake_verdict(bool claims, uint64_t claimed_ns, const struct wake_summary *summary,
			       const struct wake_evidence *evidence, double uncertainty_ns);

/* Idle state that may fit a latency budget. */
struct wake_candidate {
	/* exit latency that the idle driver claims, and that the kernel compares with the limit */
	uint64_t claimed_ns;
	/* 99.9th percentile of the wake latency plus its uncertainty, in ns; NAN if not measured */
	double tail_ns;
};

/*
 * Chooses the deepest idle state that the latency budget permits. @states are sorted from shallow
 * to deep. The caller sets the claimed latency of the chosen state as the latency limit of the
 * kernel, so every state up to this limit must fit the budget. Shallower states without a
 * measurement count as fitting. Returns the index of the chosen state, -1 if no state fits, or
 * -ENODATA if no state was measured.
 */
int wake_budget_state(const struct wake_candidate *states, int nr, double budget_ns);

/* Pre-wake: a CPU wakes up shortly before its own timer expires, which reduces the wake latency. */
struct wake_prewake {
	double ns;
	double ratio;	  /* pre-wake time @ns ÷ median wake latency of source remote */
	bool significant; /* true if @ns exceeds the sum of the medians' error bounds */
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
/* Overhead of a wake latency measurement on one CPU. */
struct wake_calibration {
	bool known;
	struct wake_overhead stamp; /* delay from the idle exit event to its timestamp */
	uint32_t clock_step_ns;	    /* smallest observed step of the clock */
	uint32_t clock_read_ns;	    /* median cost of reading the clock in user code */
	struct wake_summary busy;   /* interrupt latency of a CPU that is never idle */
};

/*
 * Sets calibration->known and calibration->stamp. @between_ns contains @nr differences between the
 * timestamps of two BPF programs on the same event. The delay from tracepoint to timestamp is
 * between 0 and the median of @between_ns, so stamp.median_ns is half of the median. @wanted is the
 * number of differences that the caller tried to measure. If @nr is less than a tenth of @wanted,
 * the delay is unknown and set to 0. Sorts @between_ns.
 */
void wake_calibrate_stamp(double *between_ns, size_t nr, size_t wanted,
			  struct wake_calibration *calibration);

/*
 * Uncertainty of a wake latency in ns, or NAN without a calibration. @card_ns is the error bound of
 * the network card's clock.
 */
double wake_uncertainty(const struct wake_calibration *calibration, unsigned int sources,
			double card_ns);

/* One comparison of two clocks: the card's clock, read between two reads of the system clock. */
struct wake_clock_sample {
	int64_t before_ns;
	int64_t device_ns;
	int64_t after_ns;
};

/* Device time and system time of one moment, and the error bound of the system time. */
struct wake_clock_fix {
	int64_t device_ns;
	int64_t system_ns;
	int64_t half_window_ns;
};

/*
 * Finds the sample with the shortest time between its two reads of the system clock. Returns
 * -EINVAL if the system clock runs backward in all @samples.
 */
int wake_clock_tightest(const struct wake_clock_sample *samples, size_t nr,
			struct wake_clock_fix *ret_fix);

/*
 * Minimum time by which device clock @a is ahead of @b (negative: behind), given the error bounds.
 * 0 if the difference is within the error bounds.
 */
int64_t wake_clock_ahead(const struct wake_clock_fix *a, const struct wake_clock_fix *b);

/*
 * Linear map from device time to system time through the two fixes `a` and `b`. If both fixes are
 * equal, the clocks are assumed to have equal rates.
 */
struct wake_clock_map {
	struct wake_clock_fix a, b;
};

int64_t wake_clock_to_system(const struct wake_clock_map *map, int64_t device_ns);
int64_t wake_clock_to_device(const struct wake_clock_map *map, int64_t system_ns);
double wake_clock_drift_ppb(const struct wake_clock_map *map);
/*
 * Error bound in ns of the system time into which @map converts @device_ns. Between map->a and
 * map->b, the error bound is interpolated. Before map->a and after map->b, the error bound grows
 * with the distance.
 */
int64_t wake_clock_uncertainty(const struct wake_clock_map *map, int64_t device_ns);

#endif
