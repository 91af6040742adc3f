/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* audit precision: how long a window must be for a wanted precision on this kernel. */
#ifndef SUBTICK_MEASURE_AUDIT_PRECISION_H
#define SUBTICK_MEASURE_AUDIT_PRECISION_H

#include "measure/audit/audit.h"
#include "stats/precision.h"

struct audit_precision {
	struct audit_findings findings;
	double want;
	bool given; /* HZ was given, so nothing was measured */
	struct precision rule;
	uint64_t window_ns;
};

/* @hz 0: measured by a short experiment. */
int audit_precision(const struct audit_opts *opts, const struct audit_env *env, double want,
		    unsigned int hz, struct audit_precision *ret_precision, struct err *err);

#endif
