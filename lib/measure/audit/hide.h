/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The task that takes a share of a core and is not seen by tick accounting. */
#ifndef SUBTICK_MEASURE_AUDIT_HIDE_H
#define SUBTICK_MEASURE_AUDIT_HIDE_H

#include "measure/audit/audit.h"
#include "measure/audit/samples.h"
#include "stats/phase.h"

#define AUDIT_PROBES 16

struct audit_hide {
	uint64_t period_ns;
	struct phase_probe probes[AUDIT_PROBES];
	bool enough; /* most probes could be had: that none hides means something */
	bool hidden, exposed;
	uint64_t hidden_phase_ns, exposed_phase_ns; /* where it is seen least, and most */
	bool stopped;
};

/*
 * Tries phases of a burn of @share in every @period_ns and picks the best and the worst. A probe
 * during which others had much of the core is tried again, twice at most.
 */
int audit_hide_search(struct audit_samples *samples, double share, uint64_t period_ns,
		      const struct audit_env *env, struct audit_hide *ret_hide, struct err *err);

#endif
