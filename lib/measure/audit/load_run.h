/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One load of audit sources: the truth, the columns, and the generator's own figures. */
#ifndef SUBTICK_MEASURE_AUDIT_LOAD_RUN_H
#define SUBTICK_MEASURE_AUDIT_LOAD_RUN_H

#include "measure/audit/modes.h"
#include "measure/audit/samples.h"
#include "stats/load.h"
#include "measure/audit/audit.h"

#define AUDIT_STEP_NS	 10000000ULL
#define AUDIT_NR_WINDOWS 4

extern const uint64_t audit_windows_ns[AUDIT_NR_WINDOWS];

/* Windows below the unit of the figures, from samples of their own. */
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
	uint64_t period_ns; /* 0: not periodic */
	bool phase_known;
	uint64_t phase_ns;
	bool recorded;	/* the generator recorded what it used */
	bool strayed;	/* hotplug moved the load to another core */
	bool disturbed; /* other tasks used much of the core */
	double burn_ratio, thread_ratio;
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
