/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts that the reports of audit share, and the report of its precision experiment. */
#include "present/audit.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "report/columns.h"

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

struct mode_row {
	struct audit_modes_of of;
	const char *mode;
	struct audit_level level;
};

#define ROW(metric, member, ...) COLUMN(struct mode_row, metric, member, __VA_ARGS__)

static const struct column_spec of_load[] = {ROW(M_AUDIT_LOAD, of.load)};
static const struct column_spec of_delay[] = {
	ROW(M_DELAY_NS, of.delay_ns),
	ROW(M_SLACK_NS, of.slack_ns),
};
static const struct column_spec of_all[] = {
	ROW(M_MODE, mode),
	ROW(M_SHOWN_NS, level.shown_ns),
	ROW(M_TRUE_NS, level.true_ns),
	ROW(M_SHOWN_LEVEL_RATIO, level.shown),
	ROW(M_TRUE_LEVEL_RATIO, level.truth),
	ROW(M_ERROR_RATIO, level.error),
};

void audit_modes_columns(struct table *table, bool by_load)
{
	if (!table)
		return;
	table->text_hidden = true;
	if (by_load)
		columns_add(table, COLUMNS(of_load));
	else
		columns_add(table, COLUMNS(of_delay));
	columns_add(table, COLUMNS(of_all));
}

void audit_modes_rows(struct table *table, const struct audit_modes_of *of,
		      const struct audit_level levels[AUDIT_NR_MODES])
{
	for (int mode = 0; mode < AUDIT_NR_MODES; mode++) {
		const struct mode_row from = {*of, audit_mode_name(mode), levels[mode]};
		size_t row = table ? table_row(table) : SIZE_MAX, first;

		if (row == SIZE_MAX)
			return;
		first = table->nr_cols - sizeof(of_all) / sizeof(of_all[0]);
		if (of->load)
			columns_fill(table, row, 0, COLUMNS(of_load), &from);
		else
			columns_fill(table, row, 0, COLUMNS(of_delay), &from);
		columns_fill(table, row, first, COLUMNS(of_all), &from);
	}
}

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
