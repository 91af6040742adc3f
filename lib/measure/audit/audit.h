/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick audit`: how wrong the kernel's own CPU figures are, found by experiment. */
#ifndef SUBTICK_MEASURE_AUDIT_H
#define SUBTICK_MEASURE_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct audit_opts {
	unsigned int cpu;   /* the core that is loaded and audited */
	uint64_t budget_ns; /* about how long the experiment may take; 0: its own default */
	bool brief;	    /* as a part of all: fewer points, shorter windows */

	const uint64_t *delays_ns; /* NULL: those of the paper */
	size_t nr_delays;
	uint64_t iterations; /* per delay; 0: as many as the budget allows */

	double duty;	    /* of the duty-cycle loads */
	uint64_t period_ns; /* 0: one tick */
	bool phase_given;   /* one load, locked at phase_ns, instead of all */
	uint64_t phase_ns;
	double share;	/* of the core that the task that hides takes */
	uint32_t loads; /* bit per audit_load of sources; 0: all */
};

/* Loads of audit sources. */
enum audit_load {
	AUDIT_RANDOM, /* first: the one with long windows in the brief form */
	AUDIT_SWEPT,
	AUDIT_LOCKED, /* at the phase asked for */
	AUDIT_EXPOSED,
	AUDIT_HIDDEN,
	AUDIT_SOFTIRQ,
	AUDIT_XDP_DROP,
	AUDIT_NR_LOADS,
};

/* How an experiment waits and tells where it is; both may be NULL. */
struct audit_env {
	/* Until CLOCK_MONOTONIC @until_ns; true when it is time to stop and report what there is. */
	bool (*wait)(uint64_t until_ns);
	void (*progress)(const char *what);
};

/* What the experiments found out, for the verdict; each fills its part. */
struct audit_findings {
	const char *source; /* that the errors are held against; NULL while there are none */
	unsigned int user_hz;
	bool tick_looked, tick_known;
	const char
		*tick_unclear; /* why that none was found means nothing; NULL: it was looked for */
	unsigned int hz;
	uint64_t tick_ns;
	bool phase_known; /* not where HZ was given */
	double tick_phase_ns;
	double busy_coherence; /* of user and system columns */
	bool irq_known;
	double irq_coherence; /* of irq and softirq columns */

	bool softirq_known;
	double softirq_as_idle; /* share of softirq time on idle that the idle column took */

	bool hide_tried; /* all phases were tried */
	bool hide_phase; /* one of them hid the task while it was tried */
	bool hide_found; /* and for the length of the load as well */
	double hidden_true, hidden_shown;
	uint64_t hidden_phase_ns;

	bool worst_known;
	double worst_error; /* of the columns, in windows from AUDIT_FAIL_WINDOW_NS on */
	char worst_load[64];
	uint64_t worst_window_ns;

	bool good_disturbed; /* others used the core: that it was good would say nothing */
	bool good_known;
	uint64_t good_1_ns, good_01_ns; /* estimates; 0: at no window */
	uint64_t good_from_ns;		/* the longest window they rest on */
	double good_error;		/* root mean square in it */
};

/* Below it the figures are too coarse for their error to say anything but that. */
#define AUDIT_FAIL_WINDOW_NS 1000000000ULL
/* Stamps of columns that move on the tick only. */
#define AUDIT_ON_TICK 0.6
/*
 * Less than this is no tick to rely on: on a machine with five tasks per core, 500 and 750 Hz fit
 * the increments of 250 Hz with up to 0.87, where a quiet one has 0.99.
 */
#define AUDIT_SURE_TICK 0.9
/* Others that took more of the core than this make a load another one. */
#define AUDIT_OTHERS_MAX 0.15
/* Columns that are never off by more are not samples. */
#define AUDIT_EXACT_ERROR 0.03

enum audit_regime {
	AUDIT_UNKNOWN,
	AUDIT_TICK,	/* all busy columns move on the tick only */
	AUDIT_IRQTIME,	/* user and system on the tick, interrupts at any time */
	AUDIT_VIRT_GEN, /* all at any time: VIRT_CPU_ACCOUNTING */
	AUDIT_SAMPLED,	/* user and system on the tick; interrupts could not be tried */
};

enum audit_regime audit_regime(const struct audit_findings *findings);
const char *audit_regime_name(enum audit_regime regime);

#endif
