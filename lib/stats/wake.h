/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arithmetic of wake latency: which points count, clock mapping, summaries, verdicts. */
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

/* By enum wake_source, then NULL. */
extern const char *const wake_source_names[];

/* Whether a set of sources, a bit for each, has this one. */
static inline bool wake_has(unsigned int sources, enum wake_source source)
{
	return sources >> source & 1;
}

/* Why a point does not count. WAKE_TAKEN is not a reason. */
enum wake_reject {
	WAKE_TAKEN,
	WAKE_REJ_BEFORE_IDLE, /* the event was due before the core went idle, or it never did */
	WAKE_REJ_WOKEN_EARLY, /* it had idled, but something else had woken it before the launch */
	WAKE_REJ_OTHER_FIRST, /* another interrupt or timer came between launch and ours */
	WAKE_REJ_NEGATIVE,    /* awake before the launch by the stamps: clocks or rounding */
	WAKE_REJ_ELSEWHERE,   /* our timer ran on another CPU */
	WAKE_REJ_NMI,
	WAKE_REJ_LOST, /* no launch was stamped, or no wake-up came */
	WAKE_NR_REJECTS,
};

/* By enum wake_reject: the key in rejected:{…} without its suffix. */
extern const char *const wake_reject_names[];

/* Order of the idle exit event and the interrupt handler. */
enum wake_order {
	WAKE_EXIT_FIRST,
	WAKE_IRQ_FIRST,
	WAKE_NO_IRQ, /* polling or mwait: woken without an interrupt */
	WAKE_NR_ORDERS,
};

extern const char *const wake_order_names[]; /* by enum wake_order */

/* Whether the core entered the state that was requested, or its package slept. */
enum wake_entered {
	WAKE_ENTERED_UNKNOWN,
	WAKE_ENTERED_NO,
	WAKE_ENTERED_YES,
};

/* One point as it is kept and written to --points. */
struct wake_point {
	uint64_t launch_ns;
	uint32_t distance_ns; /* asked for */
	uint32_t silent_ns;   /* LT − TBI */
	int32_t latency_ns;   /* wake latency without our overhead; meaningless if rejected */
	int32_t exit_ns;      /* TAI − LT, overhead included */
	int32_t irq_ns;	      /* TI − LT; INT32_MIN when no interrupt was seen */
	uint32_t expire_ns;   /* our timer's handler − LT, 0 when not seen */
	uint32_t switch_ns;   /* 0 when not asked for */
	uint32_t user_ns;
	uint16_t state;
	uint8_t source;
	uint8_t order;
	uint8_t reject;
	uint8_t how;	 /* enum wake_how */
	uint8_t entered; /* enum wake_entered: the core, the state that was requested */
	uint8_t package; /* enum wake_entered: the package, a sleep state of its own */
	uint8_t round;	 /* of the experiment: which state was forced */
	uint8_t pad[3];
};

/* The stamps of one point, from which wake_judge() makes it. */
struct wake_raw {
	enum wake_source source;
	const struct wake_kpoint *k;
	uint64_t launch_ns;
	uint64_t distance_ns;
	uint64_t user_ns;     /* stamp in user code, 0 if none */
	uint32_t overhead_ns; /* of the idle exit stamp */
	int64_t offset_ns;    /* nic: from launch to the interrupt, subtracted as well */
	uint32_t how;
	bool irq_ours; /* nic: the interrupt belongs to the card; others: ignored */
};

void wake_judge(const struct wake_raw *raw, struct wake_point *ret_point);

/* Interrupt offset of the Intel i210, from the thesis (docs/methods/wake.md). */
#define WAKE_I210_IRQ_OFFSET_NS 1800

/*
 * Source nic, from the launch to the interrupt: equation 8 of the thesis for a deep state, whose
 * wake-up overlaps the DMA read, and equation 9 for a shallow one, which the read precedes.
 */
int64_t wake_nic_offset(bool deep, int64_t dma_ns, int64_t irq_offset_ns);

/* The launch distances: @from, each step @step (1.1 = +10 %) longer, none above @to. */
struct wake_sweep {
	uint64_t from_ns;
	uint64_t to_ns;
	double step;
	uint32_t points; /* per step */
};

uint32_t wake_sweep_steps(const struct wake_sweep *sweep);
uint64_t wake_sweep_distance(const struct wake_sweep *sweep, uint32_t step);
/* Sum of the distances of one point per step. */
uint64_t wake_sweep_total_ns(const struct wake_sweep *sweep);
/* Share of the time of the sweep that @done points take, with points by each of @sources. */
double wake_sweep_share(const struct wake_sweep *sweep, uint64_t done, unsigned int sources);

/* One state's latencies of one core and source. */
struct wake_summary {
	uint64_t count;
	double min_ns, median_ns, mean_ns, stddev_ns;
	double p25_ns, p75_ns; /* of points only; NAN for passive */
	double p99_ns, p999_ns, p9999_ns, max_ns;
	double median_error_ns; /* half of the interval that holds the true median, 99.7 % sure */
	double max_error_ns;	/* how much lower the true maximum may be: passive, later windows */
	uint64_t near_max;	/* values above 90 % of the maximum */
};

/*
 * Sorts @latency_ns. A percentile that needs more values than there are is NAN, and so is every
 * figure without any value.
 */
void wake_summarize(double *latency_ns, size_t nr, struct wake_summary *ret_summary);
/* The buckets that can have counts: from @ret_first up to, but not including, @ret_end. */
void wake_hist_range(const struct wake_hist *hist, unsigned int *ret_first, unsigned int *ret_end);
/* Summary of @now minus @before, of source passive. No wake-up if both are one pointer. */
void wake_summarize_hist(const struct wake_hist *now, const struct wake_hist *before,
			 uint32_t overhead_ns, struct wake_summary *ret_summary);

enum wake_verdict {
	WAKE_NO_CLAIM,
	WAKE_WITHIN,
	WAKE_EXCEEDS,
	WAKE_NO_POINTS,
	WAKE_NOT_ENTERED, /* the state was requested, but in no point entered */
	WAKE_CORE_ONLY,	  /* no longer than claimed, but the package never slept */
	WAKE_NR_VERDICTS,
};

extern const char *const wake_verdict_names[]; /* by enum wake_verdict */

/* Depth of sleep of core and package in the points of one state. */
struct wake_evidence {
	uint64_t entered, not_entered; /* points of either kind; the others are unknown */
	double max_ns;		       /* of the points that are not known as not entered */
	/* Of these points, those with a sleeping and with an awake package. */
	uint64_t package_slept, package_awake;
	bool package_can; /* a core in this state lets the package sleep */
};

/*
 * As in the thesis: the maximum against the claim. Within the uncertainty it passes; an unknown
 * one (NAN) allows nothing. Only points that entered the state count. The claim also covers the
 * wake-up of the package: without a sleeping package a passed claim is core-only.
 */
enum wake_verdict wake_verdict(bool claims, uint64_t claimed_ns, const struct wake_summary *summary,
			       const struct wake_evidence *evidence, double uncertainty_ns);

/* One idle state of a CPU as a candidate for a latency budget. */
struct wake_candidate {
	uint64_t claimed_ns; /* exit latency by the driver: a latency limit admits states by it */
	double tail_ns;	     /* p99.9 of the wake latency and its uncertainty; NAN if not measured */
};

/*
 * Deepest of @nr states, shallow to deep, such that it and every state that a latency limit of its
 * claim admits fit @budget_ns. A shallower state that was not measured fits, a deeper one does not.
 * -1 if none fits, -ENODATA if no state was measured.
 */
int wake_budget_state(const struct wake_candidate *states, int nr, double budget_ns);

/* Pre-wake: how much less a timer's wake latency is, because the core knows its own timer. */
struct wake_prewake {
	double ns;
	double ratio;	  /* of the remote latency */
	bool significant; /* beyond the uncertainty */
};

void wake_prewake(const struct wake_summary *timer, const struct wake_summary *remote,
		  double uncertainty_ns, struct wake_prewake *ret_prewake);

/* The cost of one stamp, from repeated readings. */
struct wake_overhead {
	uint32_t median_ns;
	uint32_t spread_ns; /* half of p10…p90 */
};

/* Sorts @cost_ns. */
void wake_overhead(double *cost_ns, size_t nr, struct wake_overhead *ret_overhead);
/* Cost of measuring on one core. */
struct wake_calibration {
	bool known;
	struct wake_overhead stamp; /* from the idle exit event to its stamp */
	uint32_t clock_step_ns;	    /* smallest step of the clock that was seen */
	uint32_t clock_read_ns;	    /* median cost of reading it in user code */
	struct wake_summary busy;   /* interrupt latency while the core is never idle */
};

/*
 * Fills known and stamp from @nr of @wanted times between the stamps of two programs on the same
 * event, which it sorts. They bound the tracepoint-to-timestamp delay: it is half of their median,
 * give or take the other half. With less than a tenth of @wanted the delay is unknown, and 0.
 */
void wake_calibrate_stamp(double *between_ns, size_t nr, size_t wanted,
			  struct wake_calibration *calibration);

/*
 * How far a latency may be off; NAN without a calibration. @card_ns: source nic's half-window of
 * the clock readings.
 */
double wake_uncertainty(const struct wake_calibration *calibration, unsigned int sources,
			double card_ns);

/* Two clocks seen together: the card's time between two readings of the system's. */
struct wake_clock_sample {
	int64_t before_ns;
	int64_t device_ns;
	int64_t after_ns;
};

/* A pair of instants, and how far the system's may be off. */
struct wake_clock_fix {
	int64_t device_ns;
	int64_t system_ns;
	int64_t half_window_ns;
};

/* The tightest of @nr samples. -EINVAL without one that runs forward. */
int wake_clock_tightest(const struct wake_clock_sample *samples, size_t nr,
			struct wake_clock_fix *ret_fix);

/*
 * How much clock @a is ahead of clock @b for certain: their distance less what both readings leave
 * open, 0 if that is more.
 */
int64_t wake_clock_ahead(const struct wake_clock_fix *a, const struct wake_clock_fix *b);

/*
 * The line through two fixes converts between the device's clock and the system's. One fix alone
 * (b == a) assumes equal rates.
 */
struct wake_clock_map {
	struct wake_clock_fix a, b;
};

int64_t wake_clock_to_system(const struct wake_clock_map *map, int64_t device_ns);
int64_t wake_clock_to_device(const struct wake_clock_map *map, int64_t system_ns);
double wake_clock_drift_ppb(const struct wake_clock_map *map);
/* Half-window at @device_ns: interpolated between the fixes, growing with distance beyond them. */
int64_t wake_clock_uncertainty(const struct wake_clock_map *map, int64_t device_ns);

#endif
