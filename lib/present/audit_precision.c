/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of audit precision. */
#include "present/audit.h"

static void say_rule(const struct audit_precision *p, struct report *report)
{
	char text[16];

	report_note(report,
		    "rounding: in a window shorter than %s s one unit of /proc/stat is more than "
		    "%.3g %%",
		    audit_seconds(p->rule.rounding_ns, text), p->want * 100.0);
	report_note(
		report,
		"sampling: each tick is one sample; a load that is not synchronous with the tick "
		"is accurate to %.3g %% in 95 of 100 windows of %s s, a synchronous load never",
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
			report_note(
				report,
				"the figures do not change on a tick: they only have the rounding "
				"of their unit");
		}
	}
	return audit_report_done(report, ret_report, err);
}
