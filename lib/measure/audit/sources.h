/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* audit sources: every source of load side by side, under loads that are hard to see. */
#ifndef SUBTICK_MEASURE_AUDIT_SOURCES_H
#define SUBTICK_MEASURE_AUDIT_SOURCES_H

#include "measure/audit/hide.h"
#include "measure/audit/load_run.h"

struct audit_sources {
	struct audit_load_run runs[AUDIT_NR_LOADS];
	const char *names[SOURCE_SET_MAX]; /* of the sources; the first is the truth */
	unsigned int nr_sources;
	struct err passed_over; /* why there is no better truth; code 0: there is none better */
	struct load_losses losses;
	bool hide_searched;
	struct audit_hide hide;
	uint64_t tick_ns; /* period of the loads that keep step with the tick */
	bool stopped;
	uint64_t window_ns;
};

/* "random"; NULL from AUDIT_NR_LOADS on. */
const char *audit_load_name(unsigned int load);
/* @ret_sources is large: not for the stack. */
int audit_sources(const struct audit_opts *opts, const struct audit_env *env,
		  struct audit_findings *findings, struct audit_sources *ret_sources,
		  struct err *err);

#endif
