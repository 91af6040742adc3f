/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the loads of audit sources to the findings of the verdict. */
#ifndef SUBTICK_MEASURE_AUDIT_SOURCES_JUDGE_H
#define SUBTICK_MEASURE_AUDIT_SOURCES_JUDGE_H

#include "measure/audit/audit.h"
#include "measure/audit/samples.h"
#include "measure/audit/sources_report.h"

/* The largest error of the columns in windows from AUDIT_FAIL_WINDOW_NS on, if it is the worst. */
void audit_take_worst(struct audit_findings *f, const char *load,
		      const struct audit_error errors[AUDIT_NR_WINDOWS]);
/*
 * From which window on the columns are good, under a load that keeps no step with the tick; not
 * if @disturbed by others. 0 or -ENOMEM.
 */
int audit_take_good(struct audit_findings *f, const struct audit_samples *samples, size_t columns,
		    const struct audit_scene *scene, bool disturbed);
void audit_take_hidden(struct audit_findings *f, const struct audit_scene *scene, double share);
/* How much of the softirq time on idle the idle columns took for idle. */
void audit_take_softirq(struct audit_findings *f, const struct audit_scene *scene);

#endif
