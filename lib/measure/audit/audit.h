/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick audit`: experiments that measure the errors of the kernel's CPU figures. */
#ifndef SUBTICK_MEASURE_AUDIT_H
#define SUBTICK_MEASURE_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "host/procstat.h"
#include "stats/audit.h"

struct audit_delay;
struct audit_delays;

struct audit_opts {
	unsigned int cpu;   /* core on which the loads run and whose /proc/stat line is audited */
	uint64_t budget_ns; /* maximum run time of the experiment, or 0 for the default run time */
	bool brief;	    /* run a short audit with fewer experiments and shorter windows */

	/* requested delays, or NULL for the delays of audit_delays_paper() */
	const uint64_t *delays_ns;
	size_t nr_delays;
	/* timer slacks; each slack is combined with every delay; NULL for 1 ns */
	const uint64_t *slacks_ns;
	size_t nr_slacks;
	uint64_t iterations;		   /* sleeps per delay; 0: limited by the run time */
	const struct audit_delay *earlier; /* rows of an earlier run that is resumed, or NULL */
	size_t nr_earlier;

	double duty;	    /* share of each period during which a periodic load is busy */
	uint64_t period_ns; /* period of the loads, or 0 for one tick */
	/* Run only AUDIT_LOCKED. Each busy loop of this load starts phase_ns after a tick. */
	bool phase_given;
	uint64_t phase_ns;
	double share;	/* share of the core that AUDIT_HIDDEN and AUDIT_EXPOSED use */
	uint32_t loads; /* loads to run: a bit per enum audit_load, or 0 for all */
};

/* Default timer slack of the kernel, which tasks inherit. */
#define AUDIT_DEFAULT_SLACK_NS 50000

/* Synthetic loads of `subtick audit sources`. */
enum audit_load {
	/* must be the first load, because in a brief run only the first load has long windows */
	AUDIT_RANDOM,
	AUDIT_SWEPT,
	AUDIT_LOCKED, /* each busy loop begins at the phase of the tick that --phase selects */
	AUDIT_EXPOSED,
	AUDIT_HIDDEN,
	AUDIT_NICE,    /* AUDIT_RANDOM with a nice value */
	AUDIT_IOWAIT,  /* the task waits for reads of a disk */
	AUDIT_MESSAGE, /* the task waits for messages of a task on another core */
	AUDIT_SOFTIRQ,
	AUDIT_XDP_DROP,
	AUDIT_NR_LOADS,
};

/* Loads that run only if their bits are set in opts->loads. */
#define AUDIT_ON_REQUEST (1u << AUDIT_NICE | 1u << AUDIT_IOWAIT | 1u << AUDIT_MESSAGE)

/* Callbacks of an experiment; each callback may be NULL. */
struct audit_env {
	/* Waits until CLOCK_MONOTONIC is @until_ns. Returns true if the experiment must stop. */
	bool (*wait)(uint64_t until_ns);
	void (*progress)(const char *what);
	/*
	 * Callback after each complete row. The new row is the last row of @delays. Returns false
	 * to end the experiment.
	 */
	bool (*row)(void *arg, const struct audit_delays *delays);
	void *arg;
};

/* Results of the experiments. An experiment sets only the members that it measures. */
struct audit_findings {
	/* name of the source that is the reference for errors, or NULL before the first error */
	const char *source;
	unsigned int user_hz;
	bool tick_looked, tick_known;
	const char *tick_unclear; /* reason why the search for the tick failed, or NULL */
	unsigned int hz;
	uint64_t tick_ns;
	bool phase_known; /* the phase of the tick was measured; false if the user gave HZ */
	double tick_phase_ns;
	double busy_coherence; /* coherence of the columns user and system with the tick */
	bool irq_known;
	double irq_coherence; /* coherence of the columns irq and softirq with the tick */

	bool softirq_known;
	/* (softirq time that /proc/stat shows as idle time) ÷ (softirq time on an idle core) */
	double softirq_as_idle;

	bool hide_tried; /* a periodic task was run at several phases of the tick */
	bool hide_phase; /* at one phase of the tick /proc/stat did not show the periodic task */
	/* /proc/stat did not show the load AUDIT_HIDDEN, which runs at the phase hidden_phase_ns */
	bool hide_found;
	double hidden_true, hidden_shown;
	uint64_t hidden_phase_ns;

	bool worst_known;
	/* Largest error of a column of /proc/stat in windows of AUDIT_FAIL_WINDOW_NS and longer. */
	double worst_error;
	char worst_load[64];
	uint64_t worst_window_ns;

	/* other tasks used the core, so the minimum window length was not estimated */
	bool good_disturbed;
	bool good_known;
	/* Minimum windows for errors of at most 1 % and 0.1 %, or 0 if no window is long enough. */
	uint64_t good_1_ns, good_01_ns;
	/* longest window on which the estimate of the minimum window length is based */
	uint64_t good_from_ns;
	/* Root mean square of the errors in windows of good_from_ns. */
	double good_error;
};

/* Minimum window for worst_error. Below this length errors are mostly rounding to 1/USER_HZ s. */
#define AUDIT_FAIL_WINDOW_NS 1000000000ULL
/* A column changes only on the tick if its coherence with the tick is at least this value. */
#define AUDIT_ON_TICK 0.6
/*
 * Minimum coherence of a frequency that is accepted as the tick frequency. Measured coherence: 0.99
 * for the true frequency on a quiet machine; up to 0.87 for 500 and 750 Hz, with a tick of 250 Hz
 * and five tasks on each core.
 */
#define AUDIT_SURE_TICK 0.9
/* A load counts as disturbed if other tasks use more than this share of the core. */
#define AUDIT_OTHERS_MAX 0.15
/* Maximum error of /proc/stat if the kernel measures CPU time at each context switch. */
#define AUDIT_EXACT_ERROR 0.03

/*
 * Returns the end time of the next part of an experiment. The part lasts @share × the time until
 * @end_ns, but at least @least_ns. @end_ns is UINT64_MAX for no limit. Returns 0 if less than
 * @least_ns remains until @end_ns; the caller then omits the part.
 */
uint64_t audit_part_end(uint64_t now_ns, uint64_t end_ns, double share, uint64_t least_ns);
/* Sets @err to the message that a part of the experiment was omitted for lack of time. */
int audit_no_time(struct err *err);

enum audit_regime {
	AUDIT_UNKNOWN,
	AUDIT_TICK,	/* all columns of busy time change only on the tick */
	AUDIT_IRQTIME,	/* user and system change only on the tick, irq and softirq at any time */
	AUDIT_VIRT_GEN, /* all columns change at any time: VIRT_CPU_ACCOUNTING */
	AUDIT_SAMPLED,	/* user and system change only on the tick; irq and softirq are unknown */
};

enum audit_regime audit_regime(const struct audit_findings *findings);
const char *audit_regime_name(enum audit_regime regime);

/* Result of `subtick audit precision`: minimum window lengths for the requested precision. */
struct audit_precision {
	struct audit_findings findings;
	double want;
	bool given; /* true if the user gave HZ, so HZ was not measured */
	struct precision rule;
	uint64_t window_ns;
};

/*
 * Determines the minimum window lengths for an error of @want. @hz is the kernel's HZ, or 0 to
 * measure the tick in a short experiment.
 */
int audit_precision(const struct audit_opts *opts, const struct audit_env *env, double want,
		    unsigned int hz, struct audit_precision *ret_precision, struct err *err);

#define AUDIT_BUSY_COLS (1u << PROCSTAT_USER | 1u << PROCSTAT_NICE | 1u << PROCSTAT_SYSTEM)
#define AUDIT_IRQ_COLS	(1u << PROCSTAT_IRQ | 1u << PROCSTAT_SOFTIRQ)
#define AUDIT_ALL_COLS	((1u << PROCSTAT_NR_COLS) - 1)

#define AUDIT_FIND_NS 1500000000ULL /* maximum time of the search for the tick */

/* Waits until @until_ns with env->wait(). Returns true if the experiment must stop. */
bool audit_wait(const struct audit_env *env, uint64_t until_ns);
void audit_progress(const struct audit_env *env, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Statistics of a process that reads /proc/stat in a loop. */
struct audit_watch {
	uint64_t wall_ns;
	uint64_t reads;
	/* delayed reads of /proc/stat; the time of a column change in such a read is unknown */
	uint64_t blurred;
	uint64_t delayed_ns; /* total time of the delayed reads of /proc/stat */
	uint64_t read_ns;    /* total time of all reads of /proc/stat */
	/* CPU time of the reading process; excludes interrupts if the kernel measures them */
	uint64_t cpu_ns;
	bool stopped;
};

/*
 * Reads the line of @cpu in /proc/stat as fast as possible for @length_ns, and adds each reading to
 * @edge_sets. @urgent sets nice −20 if permitted; the load must run on another core.
 */
int audit_watch(unsigned int cpu, uint64_t length_ns, bool urgent, struct counter_edges *edge_sets,
		size_t nr, const struct audit_env *env, struct audit_watch *ret_watch,
		struct err *err);

/*
 * Finds the tick from the times at which the busy columns of /proc/stat change, under a load in
 * user and system mode.
 */
void audit_judge_tick(struct audit_findings *findings, const struct counter_edges *busy,
		      const struct audit_watch *watch);
/*
 * Computes irq_coherence under a load of interrupts: 1 if the irq columns change only at ticks,
 * near 0 if the columns change at any time.
 */
void audit_judge_irq(struct audit_findings *findings, const struct counter_edges *irq);
/*
 * Measures the tick frequency if it is unknown. The measurement takes at most a quarter of
 * @budget_ns; a @budget_ns of 0 means no limit.
 */
int audit_find_tick(unsigned int cpu, uint64_t budget_ns, const struct audit_env *env,
		    struct audit_findings *findings, struct err *err);

/*
 * Updates the worst error of /proc/stat. Ignores an @error of NaN and windows shorter than
 * AUDIT_FAIL_WINDOW_NS.
 */
void audit_judge_worst(struct audit_findings *findings, double error, uint64_t window_ns,
		       const char *load);

/* Returns an allowed core other than @cpu, or -1. */
int audit_other_cpu(unsigned int cpu);
/* Sets @err to the message that a load could not stay on its core. */
int audit_no_load(struct err *err, unsigned int cpu);

#endif
