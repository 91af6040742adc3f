/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts that the reports of audit share, and the report of its precision experiment. */
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

struct field_row {
	const char *experiment;
	uint32_t cpu;
	uint64_t user_hz, hz, tick_ns, tick_phase_ns;
};

#define WITH_CPU	       1
#define FIELD(id, member, ...) COLUMN(struct field_row, id, member, __VA_ARGS__)
static const struct column_spec field_columns[] = {
	FIELD(M_EXPERIMENT, experiment),
	FIELD(M_CPU, cpu, .when = WITH_CPU),
	FIELD(M_USER_HZ, user_hz, .flags = COLUMN_LATER),
	FIELD(M_TICK_HZ, hz, .flags = COLUMN_LATER),
	FIELD(M_TICK_NS, tick_ns, .flags = COLUMN_LATER),
	FIELD(M_TICK_PHASE_NS, tick_phase_ns, .flags = COLUMN_LATER),
};
const struct table_spec audit_fields_table = TABLE("", NULL, field_columns);

struct report *audit_report(const char *experiment, const struct audit_opts *opts,
			    const struct audit_findings *f, uint64_t window_ns)
{
	struct report *report = report_new("audit");
	struct field_row row = {
		.experiment = experiment,
		.cpu = opts ? opts->cpu : UINT32_MAX,
		.user_hz = f->user_hz,
		.hz = f->tick_known ? f->hz : UINT64_MAX,
		.tick_ns = f->tick_known ? f->tick_ns : UINT64_MAX,
		.tick_phase_ns = f->phase_known ? (uint64_t)f->tick_phase_ns : UINT64_MAX,
	};

	if (!report)
		return NULL;
	report->time_unix_ns = clock_unix_ns();
	report->window_ns = window_ns;
	columns_set(report, &audit_fields_table, opts ? WITH_CPU : 0, &row);
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

static const struct column_spec mode_columns[] = {
	ROW(M_AUDIT_LOAD, of.load, .when = AUDIT_BY_LOAD),
	ROW(M_DELAY_NS, of.delay_ns, .when = AUDIT_BY_DELAY),
	ROW(M_SLACK_NS, of.slack_ns, .when = AUDIT_BY_DELAY),
	ROW(M_MODE, mode),
	ROW(M_SHOWN_NS, level.shown_ns),
	ROW(M_TRUE_NS, level.true_ns),
	ROW(M_SHOWN_LEVEL_RATIO, level.shown),
	ROW(M_TRUE_LEVEL_RATIO, level.truth),
	ROW(M_ERROR_RATIO, level.error),
};
const struct table_spec audit_modes_table =
	TABLE("modes", "load levels by mode", mode_columns, .text_hidden = true);
const struct table_spec audit_command_modes_table =
	TABLE("modes", "the CPUs of the command, by mode", mode_columns);

void audit_modes_rows(struct table *table, const struct audit_modes_of *of,
		      const struct audit_level levels[AUDIT_NR_MODES])
{
	for (int mode = 0; mode < AUDIT_NR_MODES; mode++) {
		const struct mode_row from = {*of, audit_mode_name(mode), levels[mode]};

		columns_row(table, &from);
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

struct precision_row {
	double want;
	uint64_t rounding_ns, sampling_ns;
};

static const struct column_spec precision_columns[] = {
	COLUMN(struct precision_row, M_WANT_RATIO, want),
	COLUMN(struct precision_row, M_ROUNDING_WINDOW_NS, rounding_ns),
	COLUMN(struct precision_row, M_SAMPLING_WINDOW_NS, sampling_ns),
};
const struct table_spec audit_precision_table = TABLE("", NULL, precision_columns, .optional = true);

int audit_precision_report(const struct audit_opts *opts, const struct audit_precision *p,
			   struct report **ret_report, struct err *err)
{
	struct report *report =
		audit_report("precision", p->given ? NULL : opts, &p->findings, p->window_ns);
	const struct precision_row row = {p->want, p->rule.rounding_ns,
				      p->findings.tick_known ? p->rule.sampling_ns : UINT64_MAX};

	if (report) {
		report_source(report, p->given ? "--hz" : "procstat");
		columns_set(report, &audit_precision_table, 0, &row);
		if (p->findings.tick_known)
			say_rule(p, report);
		else
			report_note(
				report,
				"the figures do not change on a tick: they only have the rounding "
				"of their unit");
	}
	return audit_report_done(report, ret_report, err);
}
