/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One window of `subtick wake` as plain numbers, from which all output is derived. */
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

/* A count or time that is not known; for doubles NAN. */
#define WAKE_UNKNOWN UINT64_MAX

/* Boundaries of the histogram that the exporter and JSON show: 1 µs to 17 ms. */
#define WAKE_NR_LE 15

/* Just below powers of two, where the BPF side's buckets end: counts are exact. */
static inline uint64_t wake_le_ns(unsigned int i)
{
	return (1024ull << i) - 1;
}

/* One core, source and idle state. */
struct wake_state {
	uint32_t cpu;
	uint32_t index; /* of the idle state that was requested */
	enum wake_source source;
	char name[32];
	uint32_t round;	     /* of the experiment */
	char forced[32];     /* the only allowed state; "" in the last round */
	char preference[32]; /* energy preference of the round; "" in the last round */
	uint64_t claimed_ns; /* exit latency by the driver */
	struct wake_summary summary;
	enum wake_verdict verdict;
	double silent_median_ns; /* from going idle to the launch */
	uint64_t order[WAKE_NR_ORDERS];
	uint64_t usage, residency_ns;	 /* the kernel's own counters over the window */
	uint64_t above, below, rejected; /* kernel counters: too short, too long, refused */
	struct wake_evidence evidence;	 /* how deep the core slept; all unknown for passive */
	const char *entered_by;		 /* see wake_depth_by() */
	/* Passive. */
	uint64_t sum_ns;
	uint64_t le[WAKE_NR_LE]; /* wake-ups up to each boundary */
	/* The kernel's histogram at the end and start of the window; valid until the next read. */
	const struct wake_hist *hist, *hist_was;
};

/* One measured core. */
struct wake_cpu {
	uint32_t cpu;
	bool offline;	       /* it went offline during the run */
	uint64_t asked, taken; /* points; unknown for passive */
	uint64_t overhead_ns;  /* of our stamp, subtracted from the latencies */
	double uncertainty_ns;
	double busy_median_ns, busy_max_ns; /* interrupt latency while it never idles */
	uint64_t clock_read_ns, clock_step_ns;
	const struct wake_point *points; /* in order of time; valid until the next read */
	size_t nr_points;
	/* Time in states of the hardware during each point, UINT32_MAX unknown: [point × nr_depths]. */
	const uint32_t *depth_ns;
	const char (*depth_names)[8];
	unsigned int nr_depths;
	size_t first_state, end_state; /* its rows in the states of the window */
};

/* One core and idle state by timer and by another core, compared. */
struct wake_pair {
	uint32_t cpu;
	uint32_t index;
	char name[32];
	char forced[32];
	double timer_median_ns, remote_median_ns;
	struct wake_prewake prewake;
};

/* The deepest idle state of one core whose p99.9 fits the budget. */
struct wake_budget {
	uint32_t cpu;
	int8_t fits; /* -1: no state has enough points for a p99.9 */
	uint32_t index;
	char name[32]; /* "" if no state fits */
	double p999_ns;
	/* Exit latency that the limit has to allow; unknown if no state is deeper. */
	uint64_t limit_ns;
	/* Share of idle time in deeper states: in the window of passive, else since boot. */
	double deeper_ratio;
};

/* Time from launch to one stage on the way to user code, by core and source. */
struct wake_stage {
	uint32_t cpu;
	enum wake_source source;
	const char *name;
	struct wake_summary summary;
	double step_ns; /* since the stage before */
};

/* Time of one core, or its package, in a C-state, by the hardware's counter. */
struct wake_residency {
	uint32_t cpu;
	char name[8];
	double ns;
	double ratio; /* of the sweep */
};

#define WAKE_CARD_OTHERS 512

/* The card of source nic. */
struct wake_card {
	char device[IFNAMSIZ];
	char others[WAKE_CARD_OTHERS]; /* other cards with a clock: "eth1 (no link)" */
	char disciplines[96];	       /* running programs that adjust clocks */
	bool software;		 /* a kernel timer sent the packets */
	const char *method;	 /* how its clock was read */
	uint64_t half_window_ns; /* worst half-window of these readings */
	double drift_ppb;	 /* worst drift of its clock */
	uint64_t missed;	 /* packets that missed their time */
	struct wake_dma dma;	 /* from launch to wire */
	bool dma_given;		 /* by --dma */
};

struct wake_window {
	uint64_t time_unix_ns, window_ns;
	unsigned int sources; /* bit per enum wake_source */
	bool breakdown;	      /* stages were asked for */
	bool bare;	      /* no calibration was wanted */
	struct err separate_err; /* why the programs of load do not count for us, if they were to */

	/* The sweep; unknown for passive. */
	uint64_t from_ns, to_ns, points_per_step;
	double step_ratio;

	uint64_t overhead_ns, uncertainty_ns; /* largest of any core; unknown if any is */
	uint64_t asked, taken;
	uint64_t rejected[WAKE_NR_REJECTS]; /* WAKE_UNKNOWN: the source lacks this count */
	uint64_t not_a_timer, odd_state;    /* passive: further reasons */
	WAKE_LOSSES(LOSS_MEMBER)
	uint64_t budget_ns; /* of --budget; 0: none */
	bool over_budget; /* no state fits on a core, in this window or an earlier one */
	bool exceeded; /* a state took longer than claimed, in this window or an earlier one */

	struct wake_machine machine;
	struct wake_card card;
	bool card_chose_cpu;   /* nic: no CPU was named, so the first was measured */
	bool launch_at_waking; /* remote: this kernel has no event at the IPI */
	bool sender_near;      /* remote: the sender's core shared a package with a measured one */
	bool sender_offline;   /* the sender's core went offline, which ended the run */
	bool stopped;	       /* before its end */
	unsigned int unrestored; /* settings of this run that could not be restored */

	struct wake_state *states;
	struct wake_cpu *cpus;
	struct wake_pair *pairs;
	struct wake_stage *stages;
	struct wake_residency *residencies;
	struct wake_budget *budgets; /* with --budget: one per core */
	struct wake_state *totals; /* with several rounds: each forced state, all cores together */
	size_t nr_states, nr_cpus, nr_pairs, nr_stages, nr_residencies, nr_totals, nr_budgets;
	unsigned int nr_rounds;
	bool by_preference; /* rounds set energy preferences, not idle states */
	bool failed; /* sticky: out of memory */
};

void wake_window_free(struct wake_window *window);

#endif
