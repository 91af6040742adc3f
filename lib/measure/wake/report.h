/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns points or passive histograms into a report. */
#ifndef SUBTICK_MEASURE_WAKE_REPORT_H
#define SUBTICK_MEASURE_WAKE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/wake/wake.h"
#include "measure/wake/env.h"
#include "measure/wake/passive.h"
#include "measure/wake/run.h"
#include "report/report.h"

/* More than that in one picture nobody can tell apart. */
#define WAKE_PLOT_CORES 8

struct wake_result {
	const struct wake_opts *opts;
	const struct wake_env *env;
	const struct wake_probe *probe;
	const struct wake_run *run; /* characters always, points for the experiment */
	uint64_t window_ns;
	bool stopped; /* before its end */
	unsigned int replayed;
	int replay_error; /* settings that an earlier run left behind and that did not go back */
	const struct wake_window *window; /* passive */
	uint64_t misses;
};

/* @ret_exceeds: some state takes longer than claimed. */
int wake_report(const struct wake_result *result, struct report **ret_report, bool *ret_exceeds);
/*
 * Every point; @distribution: and how they are spread, per core, or with cpu null over all cores
 * where there are several sources or more than WAKE_PLOT_CORES.
 */
int wake_report_points(const struct wake_result *result, bool distribution,
		       struct report **ret_report);

/* How far a latency of that core may be off. */
double wake_report_uncertainty(const struct wake_result *result, const struct wake_worker *worker);

/* Whole nanoseconds; null for NAN. Only a difference can be negative, and stays a real. */
void wake_value_ns(struct value *value, double ns);
/* The states; true if one takes longer than claimed. */
bool wake_report_states(const struct wake_result *result, struct report *report);
/* The tables that only the experiment has. */
void wake_report_breakdown(const struct wake_result *result, struct report *report);
/* No table where there are no such counters. */
void wake_report_residency(const struct wake_result *result, struct report *report);
void wake_report_prewake(const struct wake_result *result, struct report *report);

/*
 * The latencies of one core, source and state that count, in their order; free() the result.
 * NULL for none or without memory, which sets report->failed.
 */
int32_t *wake_latencies(const struct wake_worker *worker, enum wake_source source,
			unsigned int state, size_t *ret_nr, struct report *report);

#endif
