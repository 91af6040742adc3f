/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick audit`: how wrong the kernel's own CPU figures are, found by experiment. */
#ifndef SUBTICK_MEASURE_AUDIT_H
#define SUBTICK_MEASURE_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stats/audit.h"

struct audit_delay;
struct audit_delays;

struct audit_opts {
	unsigned int cpu;   /* the core that is loaded and audited */
	uint64_t budget_ns; /* longest time of the experiment, or 0 for its default */
	bool brief;	    /* all experiments run: fewer points, shorter windows */

	const uint64_t *delays_ns; /* NULL for the delays of the paper */
	size_t nr_delays;
	const uint64_t *slacks_ns; /* timer slacks, each tried with every delay, or NULL for 1 ns */
	size_t nr_slacks;
	uint64_t iterations;		   /* sleeps per delay, or 0 to fill the budget */
	const struct audit_delay *earlier; /* rows of a run that is resumed */
	size_t nr_earlier;

	double duty;	    /* busy share of the duty-cycle loads */
	uint64_t period_ns; /* 0 for one tick */
	bool phase_given;   /* only one load, locked at phase_ns */
	uint64_t phase_ns;
	double share;	/* share of the core that the hidden task uses */
	uint32_t loads; /* one bit per enum audit_load, or 0 for all */
};

/* The kernel's default, inherited by every task that does not set its own. */
#define AUDIT_DEFAULT_SLACK_NS 50000

/* Loads of audit sources. */
enum audit_load {
	AUDIT_RANDOM, /* runs first: in a brief run only the first load has long windows */
	AUDIT_SWEPT,
	AUDIT_LOCKED, /* each burn begins at the phase of the tick given by --phase */
	AUDIT_EXPOSED,
	AUDIT_HIDDEN,
	AUDIT_NICE,    /* like AUDIT_RANDOM, by a task with a nice value */
	AUDIT_IOWAIT,  /* the task waits for reads of a disk */
	AUDIT_MESSAGE, /* the task waits for messages of a task on another core */
	AUDIT_SOFTIRQ,
	AUDIT_XDP_DROP,
	AUDIT_NR_LOADS,
};

/* Loads that run only if opts->loads names them. */
#define AUDIT_ON_REQUEST (1u << AUDIT_NICE | 1u << AUDIT_IOWAIT | 1u << AUDIT_MESSAGE)

/* How an experiment waits and shows its progress; each function may be NULL. */
struct audit_env {
	/*
	 * Waits until CLOCK_MONOTONIC @until_ns. Returns true if the experiment must stop and
	 * report the results so far.
	 */
	bool (*wait)(uint64_t until_ns);
	void (*progress)(const char *what);
	/* Called when the last row of @delays is complete. Returning false ends the experiment. */
	bool (*row)(void *arg, const struct audit_delays *delays);
	void *arg;
};

/* The findings of the experiments, for the verdict; each experiment fills its part. */
struct audit_findings {
	const char *source; /* reference source for the errors, or NULL before the first error */
	unsigned int user_hz;
	bool tick_looked, tick_known;
	const char *tick_unclear; /* why the search for a tick failed, or NULL if it succeeded */
	unsigned int hz;
	uint64_t tick_ns;
	bool phase_known; /* false if HZ was given */
	double tick_phase_ns;
	double busy_coherence; /* of user and system columns */
	bool irq_known;
	double irq_coherence; /* of irq and softirq columns */

	bool softirq_known;
	double softirq_as_idle; /* share of softirq time on idle that is in the idle columns */

	bool hide_tried; /* all phases were tried */
	bool hide_phase; /* one phase hid the task during the search */
	bool hide_found; /* the same phase hid the task during the whole load */
	double hidden_true, hidden_shown;
	uint64_t hidden_phase_ns;

	bool worst_known;
	/* Largest error of a column in windows of AUDIT_FAIL_WINDOW_NS and longer. */
	double worst_error;
	char worst_load[64];
	uint64_t worst_window_ns;

	bool good_disturbed; /* other tasks used the core, so there is no estimate */
	bool good_known;
	/* Shortest windows with an error of 1 % and 0.1 %, or 0 if none is long enough. */
	uint64_t good_1_ns, good_01_ns;
	uint64_t good_from_ns; /* the longest window used for the estimate */
	/* Root mean square of the errors in windows of good_from_ns. */
	double good_error;
};

/* In shorter windows the unit of the figures dominates their error. */
#define AUDIT_FAIL_WINDOW_NS 1000000000ULL
/* Least coherence of columns that change on the tick only. */
#define AUDIT_ON_TICK 0.6
/*
 * A tick with a lower coherence is not reliable: on a machine with five tasks per core, 500 and
 * 750 Hz fit the increments of 250 Hz with up to 0.87; on a quiet machine the tick has 0.99.
 */
#define AUDIT_SURE_TICK 0.9
/* If other tasks use more of the core than this, the load is disturbed. */
#define AUDIT_OTHERS_MAX 0.15
/* Columns whose error never exceeds this share are not sampled by the tick. */
#define AUDIT_EXACT_ERROR 0.03

/*
 * Returns the end time of the next part of an experiment. The part gets @share of the time left
 * until @end_ns (UINT64_MAX for no limit), and at least @least_ns. Returns 0 if less than @least_ns
 * is left, so the part must be left out.
 */
uint64_t audit_part_end(uint64_t now_ns, uint64_t end_ns, double share, uint64_t least_ns);
/* Sets @err for a part that was left out. */
int audit_no_time(struct err *err);

enum audit_regime {
	AUDIT_UNKNOWN,
	AUDIT_TICK,	/* all busy columns change on the tick only */
	AUDIT_IRQTIME,	/* user and system change on the tick only, interrupts at any time */
	AUDIT_VIRT_GEN, /* all change at any time: VIRT_CPU_ACCOUNTING */
	AUDIT_SAMPLED,	/* user and system change on the tick only; interrupts are unknown */
};

enum audit_regime audit_regime(const struct audit_findings *findings);
const char *audit_regime_name(enum audit_regime regime);

/* audit precision: how long a window must be for a wanted precision on this kernel. */
struct audit_precision {
	struct audit_findings findings;
	double want;
	bool given; /* HZ was given, so nothing was measured */
	struct precision rule;
	uint64_t window_ns;
};

/* With @hz 0 a short experiment measures the tick. */
int audit_precision(const struct audit_opts *opts, const struct audit_env *env, double want,
		    unsigned int hz, struct audit_precision *ret_precision, struct err *err);

#endif
