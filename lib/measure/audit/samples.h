/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of all sources of CPU load on one core, and their errors under one synthetic load. */
#ifndef SUBTICK_MEASURE_AUDIT_SAMPLES_H
#define SUBTICK_MEASURE_AUDIT_SAMPLES_H

#include <stddef.h>

#include "base/array.h"
#include "base/err.h"
#include "measure/audit/audit.h"
#include "measure/audit/modes.h"
#include "measure/load/sources.h"
#include "stats/load.h"

struct audit_samples {
	struct source_set set; /* opened sources of CPU load; the first is the reference */
	struct load_sample *kept[SOURCE_SET_MAX]; /* samples of the audited core, by source */
	/* number and maximum number of stored samples per source; nr = 0 discards all samples */
	size_t nr, room;
	unsigned int cpu, nr_cpus;
	struct load_sample *scratch; /* buffer for one sample of all CPUs */
	/* Sample of all CPUs by the first source, taken at the start of the load. */
	struct load_sample *begin;
	struct blocks memory;
	double loadavg; /* load average of one minute at audit_samples_begin(), or NaN */
};

/* Sets err->unsupported if no source measures the true load. */
int audit_samples_open(struct audit_samples *samples, unsigned int cpu, size_t room,
		       struct err *err);
void audit_samples_close(struct audit_samples *samples);
/* Adds a sample of every source, unless the arrays of samples are full. */
void audit_samples_add(struct audit_samples *samples);
/* Computes the load of source number @at between the samples @from and @to. */
void audit_samples_window(const struct audit_samples *samples, size_t at, size_t from, size_t to,
			  struct load_cpu_window *ret_window);

/* Begins the samples of a load: reads all CPUs and the load average. */
void audit_samples_begin(struct audit_samples *samples);
/*
 * Gets two load averages of one minute: the load average of the kernel, and an average that the
 * same formula yields for the true load of all cores since audit_samples_begin(). An unknown value
 * is NaN. The kernel's load average counts running and waiting tasks, and changes only every 5 s.
 */
void audit_samples_loadavg(struct audit_samples *samples, double *ret_shown, double *ret_true);

struct audit_error {
	size_t windows, voids;
	double true_ratio, shown_ratio; /* mean true and shown load over all windows */
	double bias;			/* mean error: shown load minus true load */
	double median, p99, max;	/* quantiles of |load error|; NaN without windows */
	double rms;
};

/*
 * Computes the errors of source number @at over all windows of @steps samples. The windows overlap,
 * because a window starts at each sample.
 */
int audit_samples_error(const struct audit_samples *samples, size_t at, size_t steps,
			struct audit_error *ret_error);

#define AUDIT_STEP_NS	 10000000ULL
#define AUDIT_NR_WINDOWS 4

extern const uint64_t audit_windows_ns[AUDIT_NR_WINDOWS];

/* Sampling interval for windows shorter than AUDIT_STEP_NS. */
#define AUDIT_FINE_STEP_NS 1000000ULL
#define AUDIT_NR_FINE	   3

extern const uint64_t audit_fine_ns[AUDIT_NR_FINE];

enum audit_run_state {
	AUDIT_NOT_WANTED,
	AUDIT_NOT_TRIED, /* the load was not run; `why` is the reason */
	AUDIT_NOT_SENT,	 /* the load could not send its packets */
	AUDIT_TOO_SHORT, /* the load was stopped before the second sample */
	AUDIT_MEASURED,
};

struct audit_load_run {
	const char *name;
	enum audit_run_state state;
	struct err why;
	uint64_t period_ns; /* period of the load, or 0 if the load is not periodic */
	bool phase_known;
	uint64_t phase_ns;
	bool recorded;	/* the load generator recorded its own CPU time */
	bool strayed;	/* CPU hotplug moved the load to another core */
	bool disturbed; /* other tasks used much of the core */
	double burn_ratio, thread_ratio;
	/* share of the time in which the task was blocked by reads or messages */
	double wait_ratio;
	enum audit_mode burns; /* mode of the busy loops: user or nice */
	bool waits_for_io;     /* the task waits for I/O: the kernel counts idle time as iowait */
	double loadavg, true_loadavg;
	bool parts_known, idle_known;
	struct load_cpu_window truth, columns, idle_based;
	double columns_sum;
	bool levels_known;
	struct procstat_cpu from, to; /* /proc/stat at the load's start and end */
	struct audit_level levels[AUDIT_NR_MODES];
	/* errors by source and window length; element 0, the reference, is unused */
	struct audit_error errors[SOURCE_SET_MAX][AUDIT_NR_WINDOWS];
	struct audit_error fine[SOURCE_SET_MAX][AUDIT_NR_FINE];
};

/* Computes the errors in short windows from samples taken every AUDIT_FINE_STEP_NS. */
int audit_load_run_fine(struct audit_load_run *run, const struct audit_samples *samples);

/* Computes from the samples the load over the whole run, and the errors of every source. */
int audit_load_run_sum(struct audit_load_run *run, const struct audit_samples *samples,
		       unsigned int user_hz);

/*
 * Estimates the minimum window length for accurate figures of /proc/stat, under a load that is not
 * synchronous with the tick. Does nothing if other tasks disturbed the load. Returns 0 or -ENOMEM.
 */
int audit_judge_good(struct audit_findings *f, const struct audit_samples *samples, size_t columns,
		     const struct audit_load_run *run);
void audit_judge_hidden(struct audit_findings *f, const struct audit_load_run *run, double share);
/* Computes f->softirq_as_idle from a load of softirqs on an idle core. */
void audit_judge_softirq(struct audit_findings *f, const struct audit_load_run *run);

#endif
