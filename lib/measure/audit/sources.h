/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* audit sources: every source of load side by side, under loads that are hard to measure. */
#ifndef SUBTICK_MEASURE_AUDIT_SOURCES_H
#define SUBTICK_MEASURE_AUDIT_SOURCES_H

#include "measure/audit/hide.h"
#include "measure/audit/samples.h"

struct audit_sources {
	struct audit_load_run runs[AUDIT_NR_LOADS];
	const char *names[SOURCE_SET_MAX]; /* of the sources; the first is the reference */
	unsigned int nr_sources;
	struct err
		/* Why a better reference is unavailable; code 0 if there is no better one. */
		passed_over;
	struct load_losses losses;
	bool hide_searched;
	bool hide_too_long;  /* the search was left out because the budget is too short */
	double others_ratio; /* share of the core used by other tasks before the first load */
	struct audit_hide hide;
	uint64_t tick_ns; /* period of the loads that are synchronous with the tick */
	bool stopped;
	uint64_t window_ns;
};

/* @ret_sources is large: do not put it on the stack. */
int audit_sources(const struct audit_opts *opts, const struct audit_env *env,
		  struct audit_findings *findings, struct audit_sources *ret_sources,
		  struct err *err);

#endif
