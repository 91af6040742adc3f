/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick audit sources`: errors of sources of CPU load under loads that are hard to measure. */
#ifndef SUBTICK_MEASURE_AUDIT_SOURCES_H
#define SUBTICK_MEASURE_AUDIT_SOURCES_H

#include "measure/audit/samples.h"

#define AUDIT_PROBES 16

/* Result of the search for phases of the tick at which /proc/stat does not show a periodic task. */
struct audit_hide {
	uint64_t period_ns;
	struct phase_probe probes[AUDIT_PROBES];
	/* true if more than half of `probes` are valid */
	bool enough;
	bool hidden, exposed;
	/*
	 * phases of the tick at which /proc/stat shows the smallest and the largest share of the
	 * periodic task
	 */
	uint64_t hidden_phase_ns, exposed_phase_ns;
	bool stopped;
};

struct audit_sources {
	struct audit_load_run runs[AUDIT_NR_LOADS];
	/* Names of the sources of load; the first source is the reference. */
	const char *names[SOURCE_SET_MAX];
	unsigned int nr_sources;
	/* Reason why a better reference source is unavailable, or code 0. */
	struct err passed_over;
	struct load_losses losses;
	bool hide_searched;
	bool hide_too_long;  /* the time budget is too short for hide_search() */
	double others_ratio; /* share of the core that other tasks used before the first load */
	struct audit_hide hide;
	uint64_t tick_ns; /* period of the loads that are synchronous with the tick */
	bool stopped;
	uint64_t window_ns;
};

/* Runs the loads. Do not allocate *@ret_sources on the stack, because the struct is too large. */
int audit_sources(const struct audit_opts *opts, const struct audit_env *env,
		  struct audit_findings *findings, struct audit_sources *ret_sources,
		  struct err *err);

#endif
