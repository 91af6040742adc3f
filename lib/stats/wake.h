/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computations of wake latency: validity of points, clock mapping, summaries, verdicts. */
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

/* Reason for rejecting a point. WAKE_TAKEN means that the point is valid. */
enum wake_reject {
	WAKE_TAKEN,
	/* The event was due before the core went idle, or the core never went idle. */
	WAKE_REJ_BEFORE_IDLE,
	/* The core was idle, but another event woke the core before the launch. */
	WAKE_REJ_WOKEN_EARLY,
	/* An unrelated interrupt or timer came between the launch and our interrupt. */
	WAKE_REJ_OTHER_FIRST,
	/* By the timestamps the core was awake before the launch: clock error or rounding. */
	WAKE_REJ_NEGATIVE,
	WAKE_REJ_ELSEWHERE,   /* our timer ran on another CPU */
	WAKE_REJ_NMI,
	WAKE_REJ_LOST, /* the timestamp of the launch is missing, or the core did not wake up */
	WAKE_NR_REJECTS,
};

/* Keys in rejected:{…} without suffix, indexed by enum wake_reject. */
extern const char *const wake_reject_names[];

/* Order of the idle exit event and the interrupt handler. */
enum wake_order {
	WAKE_EXIT_FIRST,
	WAKE_IRQ_FIRST,
	WAKE_NO_IRQ, /* polling or mwait: woken without an interrupt */
	WAKE_NR_ORDERS,
};

extern const char *const wake_order_names[]; /* indexed by enum wake_order */

/* Evidence that the core entered the requested state, or that the package slept. */
enum wake_entered {
	WAKE_ENTERED_UNKNOWN,
	WAKE_ENTERED_NO,
	WAKE_ENTERED_YES,
};

/* One point in memory and in --points. */
struct wake_point {
	uint64_t launch_ns;
	uint32_t distance_ns; /* requested launch distance */
	uint32_t silent_ns;   /* LT − TBI */
	int32_t latency_ns;   /* wake latency without measurement overhead; invalid if rejected */
	int32_t exit_ns;      /* TAI − LT, overhead included */
	int32_t irq_ns;	      /* TI − LT, or INT32_MIN without an interrupt */
	uint32_t expire_ns;   /* our timer's handler − LT, or 0 if not seen */
	uint32_t switch_ns;   /* 0 if not requested */
	uint32_t user_ns;
	uint16_t state;
	uint8_t source;
	uint8_t order;
	uint8_t reject;
	uint8_t how;	 /* enum wake_how */
	uint8_t entered; /* enum wake_entered of the core for the requested state */
	uint8_t package; /* enum wake_entered of the package for any sleep state */
	uint8_t round;	 /* round of the experiment, which selects the forced state */
	uint8_t pad[3];
};

/* Timestamps of one point, the input of wake_judge(). */
struct wake_raw {
	enum wake_source source;
	const struct wake_kpoint *k;
	uint64_t launch_ns;
	uint64_t distance_ns;
	uint64_t user_ns;     /* timestamp in user code, or 0 if missing */
	uint32_t overhead_ns; /* overhead of the idle exit timestamp */
	int64_t offset_ns;    /* nic: time from launch to the interrupt, also subtracted */
	uint32_t how;
	bool irq_ours; /* nic: the interrupt belongs to the card; other sources ignore this */
};

void wake_judge(const struct wake_raw *raw, struct wake_point *ret_point);

/* Interrupt offset of the Intel i210, from the thesis (docs/methods/wake.md). */
#define WAKE_I210_IRQ_OFFSET_NS 1800

/*
 * Time from launch to interrupt for source nic. Equation 8 of the thesis for a deep state, whose
 * wake-up overlaps the DMA read. Equation 9 for a shallow state, where the DMA read precedes the
 * wake-up.
 */
int64_t wake_nic_offset(bool deep, int64_t dma_ns, int64_t irq_offset_ns);

/* Launch distances: from @from to at most @to, each longer by the factor @step (1.1 is +10 %). */
struct wake_sweep {
	uint64_t from_ns;
	uint64_t to_ns;
	double step;
	uint32_t points; /* points per step */
};

uint32_t wake_sweep_steps(const struct wake_sweep *sweep);
uint64_t wake_sweep_distance(const struct wake_sweep *sweep, uint32_t step);
/* Sum of the distances of one point per step. */
uint64_t wake_sweep_total_ns(const struct wake_sweep *sweep);
/* Share of the sweep's duration that @done points take, with one point per source of @sources. */
double wake_sweep_share(const struct wake_sweep *sweep, uint64_t done, unsigned int sources);

/* Summary of the latencies of one idle state, core and source. */
struct wake_summary {
	uint64_t count;
	double min_ns, median_ns, mean_ns, stddev_ns;
	double p25_ns, p75_ns; /* NAN for source passive */
	double p99_ns, p999_ns, p9999_ns, max_ns;
	double median_error_ns; /* half width of the 99.7 % confidence interval of the median */
	/* Possible overestimate of the maximum; source passive in later windows. */
	double max_error_ns;
	uint64_t near_max;	/* number of values above 90 % of the maximum */
};

/*
 * Computes the summary and sorts @latency_ns. A percentile is NAN with too few values. All figures
 * are NAN without values.
 */
void wake_summarize(double *latency_ns, size_t nr, struct wake_summary *ret_summary);
/* Range [@ret_first, @ret_end) of buckets that may be nonempty. */
void wake_hist_range(const struct wake_hist *hist, unsigned int *ret_first, unsigned int *ret_end);
/*
 * Summary of @now minus @before for source passive. The summary is empty if both pointers are
 * equal.
 */
void wake_summarize_hist(const struct wake_hist *now, const struct wake_hist *before,
			 uint32_t overhead_ns, struct wake_summary *ret_summary);

enum wake_verdict {
	WAKE_NO_CLAIM,
	WAKE_WITHIN,
	WAKE_EXCEEDS,
	WAKE_NO_POINTS,
	WAKE_NOT_ENTERED, /* the state was requested, but not entered in any point */
	WAKE_CORE_ONLY,	  /* latency within the claim, but the package never slept */
};

extern const char *const wake_verdict_names[]; /* indexed by enum wake_verdict */

/* Depth of sleep of core and package in the points of one state. */
struct wake_evidence {
	/* Number of points that entered or did not enter the state; unknown for other points. */
	uint64_t entered, not_entered;
	/* Maximum latency, without the points that did not enter the state. */
	double max_ns;
	/* Number of the points in max_ns with a sleeping package, and with an awake package. */
	uint64_t package_slept, package_awake;
	bool package_can; /* a core in this state lets the package sleep */
};

/*
 * Compares the maximum latency with the claim, as in the thesis. The claim passes if the excess is
 * within the uncertainty; an unknown uncertainty (NAN) is 0. Only points that may have entered the
 * state count. The claim includes the wake-up of the package, so the verdict is core-only if the
 * package never slept.
 */
enum wake_verdict wake_verdict(bool claims, uint64_t claimed_ns, const struct wake_summary *summary,
			       const struct wake_evidence *evidence, double uncertainty_ns);

/* One idle state of a CPU as a candidate for a latency budget. */
struct wake_candidate {
	/* Exit latency claimed by the driver, which the kernel compares with a latency limit. */
	uint64_t claimed_ns;
	/* P99.9 of the wake latency plus its uncertainty, or NAN if not measured. */
	double tail_ns;
};

/*
 * Deepest of @nr states for a latency limit that keeps @budget_ns; @states are sorted from shallow
 * to deep. All states that a limit of the deepest state's claim admits must fit the budget. A
 * shallower state that was not measured counts as fitting, a deeper unmeasured state does not.
 * Returns -1 if no state fits, -ENODATA if no state was measured.
 */
int wake_budget_state(const struct wake_candidate *states, int nr, double budget_ns);

/*
 * Pre-wake: reduction of the wake latency for a core's own timer, which the core can wake up for in
 * advance.
 */
struct wake_prewake {
	double ns;
	double ratio;	  /* share of the remote latency */
	bool significant; /* the difference exceeds the uncertainty */
};

void wake_prewake(const struct wake_summary *timer, const struct wake_summary *remote,
		  double uncertainty_ns, struct wake_prewake *ret_prewake);

/* Cost of one timestamp, from repeated reads. */
struct wake_overhead {
	uint32_t median_ns;
	uint32_t spread_ns; /* half of p10…p90 */
};

/* Computes median and spread of @cost_ns, and sorts @cost_ns. */
void wake_overhead(double *cost_ns, size_t nr, struct wake_overhead *ret_overhead);
/* Cost of measuring on one core. */
struct wake_calibration {
	bool known;
	struct wake_overhead stamp; /* delay from the idle exit event to its timestamp */
	uint32_t clock_step_ns;	    /* smallest observed step of the clock */
	uint32_t clock_read_ns;	    /* median cost of reading the clock in user code */
	struct wake_summary busy;   /* interrupt latency while the core is never idle */
};

/*
 * Sets the members known and stamp from @nr times between the timestamps of two programs on the
 * same event. Sorts @between_ns. The median bounds the tracepoint-to-timestamp delay: use half of
 * the median, ± half. With less than a tenth of @wanted times, the delay is unknown and set to 0.
 */
void wake_calibrate_stamp(double *between_ns, size_t nr, size_t wanted,
			  struct wake_calibration *calibration);

/*
 * Uncertainty of a latency, or NAN without a calibration. @card_ns: half-window of the clock reads
 * of source nic.
 */
double wake_uncertainty(const struct wake_calibration *calibration, unsigned int sources,
			double card_ns);

/* One reading of two clocks: the card's clock between two reads of the system clock. */
struct wake_clock_sample {
	int64_t before_ns;
	int64_t device_ns;
	int64_t after_ns;
};

/* Simultaneous times of both clocks, and the error bound of the system time. */
struct wake_clock_fix {
	int64_t device_ns;
	int64_t system_ns;
	int64_t half_window_ns;
};

/* Finds the sample with the narrowest bracket. -EINVAL if time runs backward in all samples. */
int wake_clock_tightest(const struct wake_clock_sample *samples, size_t nr,
			struct wake_clock_fix *ret_fix);

/* Minimum lead of clock @a over clock @b: their distance minus both error bounds, at least 0. */
int64_t wake_clock_ahead(const struct wake_clock_fix *a, const struct wake_clock_fix *b);

/*
 * Linear map between the device clock and the system clock through two fixes. A single fix (b == a)
 * assumes equal rates.
 */
struct wake_clock_map {
	struct wake_clock_fix a, b;
};

int64_t wake_clock_to_system(const struct wake_clock_map *map, int64_t device_ns);
int64_t wake_clock_to_device(const struct wake_clock_map *map, int64_t system_ns);
double wake_clock_drift_ppb(const struct wake_clock_map *map);
/*
 * Error bound at @device_ns: interpolated between the fixes, growing with distance outside the
 * fixes.
 */
int64_t wake_clock_uncertainty(const struct wake_clock_map *map, int64_t device_ns);

#endif
