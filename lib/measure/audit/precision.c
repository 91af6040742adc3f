/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* audit precision: the window that a wanted precision needs on this kernel. */
#include "measure/audit/audit.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/audit/watch.h"
#include "stats/precision.h"

int audit_precision(const struct audit_opts *opts, const struct audit_env *env, double want,
		    unsigned int hz, struct report **ret_report, struct err *err)
{
	struct audit_findings findings = {.user_hz = sysconf(_SC_CLK_TCK)};
	uint64_t begin = hz ? 0 : clock_mono_ns();
	struct precision precision;
	char text[16];
	struct report *report;
	int rc;

	if (hz) {
		findings.tick_looked = findings.tick_known = true;
		findings.hz = hz;
		findings.tick_ns = tick_fit_tick_ns(hz);
	}
	rc = audit_find_tick(opts->cpu, env, &findings, err);
	if (rc)
		return rc;
	if (!findings.tick_known && findings.tick_unclear)
		return err_set(err, -EAGAIN,
			       "this kernel's HZ could not be found: %s; try again on a quieter "
			       "machine, or give --hz",
			       findings.tick_unclear);
	report = audit_report("precision", hz ? NULL : opts, &findings, begin);
	if (!report)
		return err_set(err, -ENOMEM, "out of memory");
	report_source(report, hz ? "--hz" : "procstat");
	value_f64(report_field(report, M_WANT_RATIO), want);
	if (findings.tick_known) {
		precision_rule(want, findings.user_hz, findings.hz, &precision);
		value_u64(report_field(report, M_ROUNDING_WINDOW_NS), precision.rounding_ns);
		value_u64(report_field(report, M_SAMPLING_WINDOW_NS), precision.sampling_ns);
		report_note(report,
			    "below %s s a single unit of /proc/stat is more than %.3g %% of the "
			    "window",
			    audit_seconds(precision.rounding_ns, text), want * 100.0);
		report_note(
			report,
			"each tick is one look at the core: a load out of step with it is known to "
			"%.3g %% in 95 of 100 windows of %s s; one in step with it never",
			want * 100.0, audit_seconds(precision.sampling_ns, text));
	} else {
		/* Exact accounting rounds only to its unit. */
		precision_rule(want, findings.user_hz, findings.user_hz, &precision);
		value_u64(report_field(report, M_ROUNDING_WINDOW_NS), precision.rounding_ns);
		value_null(report_field(report, M_SAMPLING_WINDOW_NS));
		report_note(report,
			    "no tick was found in the figures: only their unit rounds them");
	}
	return audit_report_done(report, ret_report, err);
}
