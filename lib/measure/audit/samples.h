/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of every source on one core, windows between them, and the errors under one load. */
#ifndef SUBTICK_MEASURE_AUDIT_SAMPLES_H
#define SUBTICK_MEASURE_AUDIT_SAMPLES_H

#include <stddef.h>

#include "base/err.h"
#include "measure/audit/audit.h"
#include "measure/audit/modes.h"
#include "measure/load/sources.h"
#include "stats/load.h"

struct audit_samples {
	struct source_set set;			  /* the first source is the reference */
	struct load_sample *kept[SOURCE_SET_MAX]; /* per source, of the audited core */
	size_t nr, room;			  /* samples kept per source */
	unsigned int cpu, nr_cpus;
	struct load_sample *scratch; /* of all CPUs */
	struct load_sample *begin;   /* of all CPUs by the first source, at audit_samples_begin() */
	/* Load average of one minute at audit_samples_begin(), or NaN. */
	double loadavg;
};

/* err->unsupported if there is no source for the true load. */
int audit_samples_open(struct audit_samples *samples, unsigned int cpu, size_t room,
		       struct err *err);
void audit_samples_close(struct audit_samples *samples);
/* Drops all samples. */
void audit_samples_reset(struct audit_samples *samples);
/* Takes one more sample of every source; does nothing if there is no room. */
void audit_samples_add(struct audit_samples *samples);
/* The window of source @at between two samples. */
void audit_samples_window(const struct audit_samples *samples, size_t at, size_t from, size_t to,
			  struct load_cpu_window *ret_window);

/* Begins a load: reads all CPUs and the load average. */
void audit_samples_begin(struct audit_samples *samples);
/*
 * Since audit_samples_begin(): the load average of one minute, and what the kernel's formula makes of
 * the true load of all cores. Both NaN if unknown. The kernel samples every 5 s and also counts
 * tasks that wait for a core; the true load has neither.
 */
void audit_samples_loadavg(struct audit_samples *samples, double *ret_shown, double *ret_true);

struct audit_error {
	size_t windows, voids;
	double true_ratio, shown_ratio; /* means */
	double bias;			/* mean of shown minus true */
	/* Median, p99 and maximum of the absolute error, or NAN without windows. */
	double median, p99, max;
	double rms;
};

/* The errors of source @at over all windows of @steps samples; a window begins at each sample. */
int audit_samples_error(const struct audit_samples *samples, size_t at, size_t steps,
			struct audit_error *ret_error);

#define AUDIT_STEP_NS	 10000000ULL
#define AUDIT_NR_WINDOWS 4

extern const uint64_t audit_windows_ns[AUDIT_NR_WINDOWS];

/* Windows shorter than a clock tick (10 ms) have samples of their own. */
#define AUDIT_FINE_STEP_NS 1000000ULL
#define AUDIT_NR_FINE	   3

extern const uint64_t audit_fine_ns[AUDIT_NR_FINE];

enum audit_run_state {
	AUDIT_NOT_WANTED,
	AUDIT_NOT_TRIED, /* the reason is in @why */
	AUDIT_NOT_SENT,	 /* the packets could not be sent */
	AUDIT_TOO_SHORT, /* stopped before there were two samples */
	AUDIT_MEASURED,
};

struct audit_load_run {
	const char *name;
	enum audit_run_state state;
	struct err why;
	uint64_t period_ns; /* 0 if not periodic */
	bool phase_known;
	uint64_t phase_ns;
	bool recorded;	/* the generator recorded its CPU time */
	bool strayed;	/* hotplug moved the load to another core */
	bool disturbed; /* other tasks used much of the core */
	double burn_ratio, thread_ratio;
	double wait_ratio;     /* blocked in reads or for messages */
	enum audit_mode burns; /* mode of the burns: user or nice */
	bool waits_for_io;     /* wait_ratio is iowait where the core is idle */
	double loadavg, true_loadavg;
	bool parts_known, idle_known;
	struct load_cpu_window truth, columns, idle_based;
	double columns_sum;
	bool levels_known;
	struct procstat_cpu from, to; /* the columns at both ends */
	struct audit_level levels[AUDIT_NR_MODES];
	struct audit_error errors[SOURCE_SET_MAX]
				 [AUDIT_NR_WINDOWS]; /* by source, except the first */
	struct audit_error fine[SOURCE_SET_MAX][AUDIT_NR_FINE];
};

/* Computes the errors in the short windows from samples of AUDIT_FINE_STEP_NS. */
int audit_load_run_fine(struct audit_load_run *run, const struct audit_samples *samples);

/* Computes the figures of the whole run and the errors of every source from the samples. */
int audit_load_run_sum(struct audit_load_run *run, const struct audit_samples *samples,
		       unsigned int user_hz);

/* Updates the worst error of the columns, in windows of AUDIT_FAIL_WINDOW_NS and longer. */
void audit_judge_worst(struct audit_findings *f, const char *load,
		       const struct audit_error errors[AUDIT_NR_WINDOWS]);
/*
 * Estimates from which window length on the columns are accurate, under a load that is not
 * synchronous with the tick; not if other tasks disturbed it. 0 or -ENOMEM.
 */
int audit_judge_good(struct audit_findings *f, const struct audit_samples *samples, size_t columns,
		     const struct audit_load_run *run);
void audit_judge_hidden(struct audit_findings *f, const struct audit_load_run *run, double share);
/* Computes which share of the softirq time on idle is in the idle columns. */
void audit_judge_softirq(struct audit_findings *f, const struct audit_load_run *run);

#endif
