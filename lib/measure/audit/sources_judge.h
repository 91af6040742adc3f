/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the loads of audit sources to the findings of the verdict. */
#ifndef SUBTICK_MEASURE_AUDIT_SOURCES_JUDGE_H
#define SUBTICK_MEASURE_AUDIT_SOURCES_JUDGE_H

#include "measure/audit/audit.h"
#include "measure/audit/load_run.h"

/* The largest error of the columns in windows from AUDIT_FAIL_WINDOW_NS on, if it is the worst. */
void audit_judge_worst(struct audit_findings *f, const char *load,
		       const struct audit_error errors[AUDIT_NR_WINDOWS]);
/*
 * From which window on the columns are good, under a load that keeps no step with the tick; not
 * where others disturbed it. 0 or -ENOMEM.
 */
int audit_judge_good(struct audit_findings *f, const struct audit_samples *samples, size_t columns,
		     const struct audit_load_run *run);
void audit_judge_hidden(struct audit_findings *f, const struct audit_load_run *run, double share);
/* How much of the softirq time on idle the idle columns took for idle. */
void audit_judge_softirq(struct audit_findings *f, const struct audit_load_run *run);

#endif
