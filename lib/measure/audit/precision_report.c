/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of audit precision. */
#include "measure/audit/report.h"

static void say_rule(const struct audit_precision *p, struct report *report)
{
	char text[16];

	report_note(report, "below %s s a single unit of /proc/stat is more than %.3g %% of the window",
		    audit_seconds(p->rule.rounding_ns, text), p->want * 100.0);
	report_note(report,
		    "each tick is one look at the core: a load out of step with it is known to "
		    "%.3g %% in 95 of 100 windows of %s s; one in step with it never",
		    p->want * 100.0, audit_seconds(p->rule.sampling_ns, text));
}

int audit_precision_report(const struct audit_opts *opts, const struct audit_precision *p,
			   struct report **ret_report, struct err *err)
{
	struct report *report =
		audit_report("precision", p->given ? NULL : opts, &p->findings, p->window_ns);

	if (report) {
		report_source(report, p->given ? "--hz" : "procstat");
		value_f64(report_field(report, M_WANT_RATIO), p->want);
		value_u64(report_field(report, M_ROUNDING_WINDOW_NS), p->rule.rounding_ns);
		if (p->findings.tick_known) {
			value_u64(report_field(report, M_SAMPLING_WINDOW_NS), p->rule.sampling_ns);
			say_rule(p, report);
		} else {
			value_null(report_field(report, M_SAMPLING_WINDOW_NS));
			report_note(report,
				    "no tick was found in the figures: only their unit rounds them");
		}
	}
	return audit_report_done(report, ret_report, err);
}
