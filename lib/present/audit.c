/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the reports of audit. */
#include "present/audit.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"

const char *audit_seconds(uint64_t ns, char buf[16])
{
	double seconds = (double)ns / 1e9;

	/* %g would write 1e+03 for values that round to 1000. */
	snprintf(buf, 16, seconds >= 999.5 ? "%.0f" : "%.3g", seconds);
	return buf;
}

struct report *audit_report(const char *experiment, const struct audit_opts *opts,
			    const struct audit_findings *f, uint64_t window_ns)
{
	struct report *report = report_new("audit");

	if (!report)
		return NULL;
	report->time_unix_ns = clock_unix_ns();
	report->window_ns = window_ns;
	value_str(report_field(report, M_EXPERIMENT), experiment);
	if (opts)
		value_u64(report_field(report, M_CPU), opts->cpu);
	value_u64(report_field(report, M_USER_HZ), f->user_hz);
	if (f->tick_known) {
		value_u64(report_field(report, M_TICK_HZ), f->hz);
		value_u64(report_field(report, M_TICK_NS), f->tick_ns);
	} else {
		value_null(report_field(report, M_TICK_HZ));
		value_null(report_field(report, M_TICK_NS));
	}
	if (f->phase_known)
		value_u64(report_field(report, M_TICK_PHASE_NS), (uint64_t)f->tick_phase_ns);
	else
		value_null(report_field(report, M_TICK_PHASE_NS));
	return report;
}

int audit_report_done(struct report *report, struct report **ret_report, struct err *err)
{
	if (!report || report_finish(report, ret_report))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}
