/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Derives findings for the verdict from the loads of audit sources. */
#ifndef SUBTICK_MEASURE_AUDIT_SOURCES_JUDGE_H
#define SUBTICK_MEASURE_AUDIT_SOURCES_JUDGE_H

#include "measure/audit/audit.h"
#include "measure/audit/load_run.h"

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
