/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Result of `subtick wake` for one window. */
#ifndef SUBTICK_MEASURE_WAKE_WINDOW_H
#define SUBTICK_MEASURE_WAKE_WINDOW_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/losses.h"
#include "measure/wake/dma.h"
#include "measure/wake/env.h"
#include "stats/wake.h"

/* Value of an unknown count or time. An unknown double is NAN. */
#define WAKE_UNKNOWN UINT64_MAX

/* Number of histogram buckets in metrics and JSON, with upper bounds from 1 µs to 17 ms. */
#define WAKE_NR_LE 15

/*
 * Upper bound of a histogram bucket in ns. The bucket counts are exact, because each upper bound is
 * also an upper bound of a finer bucket of the BPF programs.
 */
static inline uint64_t wake_le_ns(unsigned int i)
{
	return (1024ull << i) - 1;
}

/* Wake-ups from one idle state on one core, measured by one source. */
struct wake_state {
	uint32_t cpu;
	uint32_t index; /* index of the requested idle state */
	enum wake_source source;
	char name[32];
	uint32_t round;	     /* number of the round in the experiment */
	/* name of the only enabled idle state; "" in the last round */
	char forced[32];
	char preference[32]; /* energy preference of the round; "" for the original preference */
	uint64_t claimed_ns; /* exit latency that the driver claims */
	struct wake_summary summary;
	enum wake_verdict verdict;
	double silent_median_ns; /* median time from idle entry to launch */
	uint64_t order[WAKE_NR_ORDERS];
	/* growth of the cpuidle counters in the window */
	uint64_t usage, residency_ns, above, below, rejected;
	/* evidence that cores entered the idle state; for source passive only max_ns is set */
	struct wake_evidence evidence;
	const char *entered_by; /* counters that set wake_point.entered; see wake_depth_by() */
	/* the next members are for source passive only */
	uint64_t sum_ns;
	uint64_t le[WAKE_NR_LE]; /* number of wake-ups up to each bucket bound */
	/* histogram at the end and at the start of the window; valid until the next read */
	const struct wake_hist *hist, *hist_was;
};

struct wake_cpu {
	uint32_t cpu;
	bool offline;	       /* true if the CPU went offline during the run */
	/* number of attempted wake-ups and of valid wake-ups; unknown for source passive */
	uint64_t asked, taken;
	uint64_t overhead_ns;  /* overhead of a timestamp, which is subtracted from the latencies */
	double uncertainty_ns;
	/* latency of a timer interrupt on a core that is not idle */
	double busy_median_ns, busy_max_ns;
	uint64_t clock_read_ns, clock_step_ns;
	const struct wake_point *points; /* wake-ups in order of time; valid until the next read */
	size_t nr_points;
	/*
	 * Idle time in ns by wake-up and counter; UINT32_MAX if unknown. The index is wake-up ×
	 * nr_depths + number of the counter.
	 */
	const uint32_t *depth_ns;
	const char (*depth_names)[8];
	unsigned int nr_depths;
	size_t first_state, end_state; /* the core's rows in wake_window.states */
};

/* Comparison of sources timer and remote for one idle state of one core. */
struct wake_pair {
	uint32_t cpu;
	uint32_t index;
	char name[32];
	char forced[32];
	double timer_median_ns, remote_median_ns;
	struct wake_prewake prewake;
};

/* Deepest idle state of one core with a p99.9 latency within the budget. */
struct wake_budget {
	uint32_t cpu;
	/*
	 * 1 if an idle state fits the budget, 0 if no state fits, -1 if no state has enough
	 * wake-ups for a p99.9
	 */
	int8_t fits;
	uint32_t index;
	char name[32]; /* name of the idle state, or "" if no state fits the budget */
	double p999_ns;
	/* kernel latency limit against deeper states; WAKE_UNKNOWN if not needed, or none fits */
	uint64_t limit_ns;
	/*
	 * Share of the idle time that the core spent in idle states deeper than the chosen state.
	 * The idle time is measured in the window for source passive, and since boot for all other
	 * sources.
	 */
	double deeper_ratio;
};

/* Time from launch to one stage on the path to user code, on one core, measured by one source. */
struct wake_stage {
	uint32_t cpu;
	const char *source, *name;
	struct wake_summary summary;
	double step_ns; /* time from the previous stage on the path to this stage */
};

/* Time of one core or its package in a C-state, read from a hardware counter. */
struct wake_residency {
	uint32_t cpu;
	char name[8];
	double ns;
	double ratio; /* time in the C-state as a share of the sweep's duration */
};

#define WAKE_CARD_OTHERS 512

/* Network card of source nic. */
struct wake_card {
	char device[IFNAMSIZ];
	/* unused cards with a hardware clock, each with the reason: "eth1 (no link)" */
	char others[WAKE_CARD_OTHERS];
	char disciplines[96];	       /* names of running programs that adjust clocks */
	bool software;		 /* true if a kernel timer sent the packets */
	const char *method;	 /* method of reading the hardware clock */
	uint64_t half_window_ns; /* maximum error of the readings of the hardware clock */
	double drift_ppb;	 /* maximum drift of the hardware clock */
	uint64_t missed;	 /* number of packets that missed their launch time */
	/* time from the launch time of a packet until the card sends the packet */
	struct wake_dma dma;
	bool dma_given; /* true if the user gave --dma */
};

struct wake_window {
	uint64_t time_unix_ns, window_ns;
	unsigned int sources; /* bit mask of enum wake_source */
	bool breakdown;	      /* true if --breakdown was given; the window then has stages */
	bool bare;	      /* true if the timestamps were not calibrated */
	struct err separate_err; /* reason why wake could not use the programs of load */

	/* launch distances, wake-ups per distance; unknown for source passive */
	uint64_t from_ns, to_ns, points_per_step;
	double step_ratio;

	/* maximum timestamp overhead and maximum latency uncertainty over all cores */
	uint64_t overhead_ns, uncertainty_ns;
	uint64_t asked, taken;
	/* number of rejected wake-ups by reason; unknown if the source does not count them */
	uint64_t rejected[WAKE_NR_REJECTS];
	uint64_t not_a_timer, odd_state; /* numbers of rejected wake-ups; only for source passive */
	WAKE_LOSSES(LOSS_MEMBER)
	uint64_t budget_ns; /* latency budget; 0 without --budget */
	/* true from the first window in which a core had no idle state known to fit the budget */
	bool over_budget;
	/* true from the first window with a latency above the claimed exit latency */
	bool exceeded;

	struct wake_machine machine;
	struct wake_card card;
	bool card_chose_cpu;   /* source nic without -C: only the first CPU was measured */
	/*
	 * source remote: true if the launch time is the timestamp of sched_waking, because the
	 * kernel has no tracepoint for IPIs
	 */
	bool launch_at_waking;
	/* only source remote: true if a measured core is in the package of the sending core */
	bool sender_shares_package;
	bool sender_offline;   /* true if the sender's core went offline, which ended the run */
	bool stopped;	       /* true if the user stopped the run early */
	unsigned int unrestored; /* number of settings that could not be restored */

	struct wake_state *states;
	struct wake_cpu *cpus;
	struct wake_pair *pairs;
	struct wake_stage *stages;
	struct wake_residency *residencies;
	struct wake_budget *budgets; /* with --budget: deepest fitting idle state per core */
	struct wake_state *totals;   /* statistics per forced idle state, over all cores */
	size_t nr_states, nr_cpus, nr_pairs, nr_stages, nr_residencies, nr_totals, nr_budgets;
	unsigned int nr_rounds;
	/* true if the rounds differ by energy preference instead of idle state */
	bool by_preference;
	bool failed;	    /* true if memory ran out */
};

void wake_window_free(struct wake_window *window);

#endif
