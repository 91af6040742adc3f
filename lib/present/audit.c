/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Builds parts that audit reports share, and the reports of audit precision and audit -- COMMAND.
 */
#include "present/audit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "present/load.h"

const char *audit_seconds(uint64_t ns, char buf[16])
{
	double seconds = (double)ns / 1e9;

	/* %g would print 1e+03 for values that round to 1000. */
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
			    const struct audit_findings *f, uint64_t window_ns, const char *source)
{
	struct report *report = report_begin("audit", clock_unix_ns(), window_ns, source);
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
	columns_set(report, &audit_fields_table, opts ? WITH_CPU : 0, &row);
	return report;
}

int audit_report_done(struct report *report, struct report **ret_report, struct err *err)
{
	return report_finish(report, ret_report) ? err_set(err, -ENOMEM, "out of memory") : 0;
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
	TABLE("modes", "time of the CPUs on which the command could run, by mode", mode_columns);

void audit_modes_rows(struct table *table, const struct audit_modes_of *of,
		      const struct audit_level levels[AUDIT_NR_MODES])
{
	for (int mode = 0; mode < AUDIT_NR_MODES; mode++)
		columns_row(table, &(struct mode_row){*of, audit_mode_name(mode), levels[mode]});
}

static void note_rule(const struct audit_precision *p, struct report *report)
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
	COLUMN(struct precision_row, M_PRECISION_RATIO, want),
	COLUMN(struct precision_row, M_ROUNDING_WINDOW_NS, rounding_ns),
	COLUMN(struct precision_row, M_SAMPLING_WINDOW_NS, sampling_ns),
};
const struct table_spec audit_precision_table =
	TABLE("", NULL, precision_columns, .optional = true);

int audit_precision_report(const struct audit_opts *opts, const struct audit_precision *p,
			   struct report **ret_report, struct err *err)
{
	struct report *report = audit_report("precision", p->given ? NULL : opts, &p->findings,
					     p->window_ns, p->given ? "--hz" : "procstat");
	const struct precision_row row = {p->want, p->rule.rounding_ns,
				      p->findings.tick_known ? p->rule.sampling_ns : UINT64_MAX};

	if (report) {
		columns_set(report, &audit_precision_table, 0, &row);
		if (p->findings.tick_known)
			note_rule(p, report);
		else
			report_note(
				report,
				"the figures do not change on a tick: they only have the rounding "
				"of their unit");
	}
	return audit_report_done(report, ret_report, err);
}

#define PROGRAM(metric, member) COLUMN(struct audit_command, metric, member)
static const struct column_spec program_columns[] = {
	PROGRAM(M_RUSAGE_USER_NS, rusage_user_ns),
	PROGRAM(M_RUSAGE_SYSTEM_NS, rusage_system_ns),
	PROGRAM(M_TASK_CLOCK_NS, task_clock_ns),
	PROGRAM(M_TRUE_USER_NS, true_user_ns),
	PROGRAM(M_TRUE_SYSTEM_NS, true_system_ns),
	PROGRAM(M_RUSAGE_FACTOR_RATIO, rusage_factor),
	PROGRAM(M_USER_ERROR_RATIO, user_error),
	PROGRAM(M_OTHERS_NS, others_ns),
};
const struct table_spec audit_program_table =
	TABLE("program", "the command: accounted and used CPU time", program_columns);

struct program_row {
	const char *command_line, *cpu_list;
	uint32_t status, signal;
};

static const struct column_spec program_fields[] = {
	COLUMN(struct program_row, M_COMMAND_LINE, command_line),
	COLUMN(struct program_row, M_CPU_LIST, cpu_list),
	COLUMN(struct program_row, M_EXIT_STATUS, status),
	COLUMN(struct program_row, M_EXIT_SIGNAL, signal),
};
const struct table_spec audit_program_fields_table =
	TABLE("", NULL, program_fields, .optional = true);

static void add_clock_notes(const struct audit_command *c, struct report *report)
{
	if (c->no_clock.code)
		report_note(report, "the CPU time that the command used is unknown: %s%s%s",
			    c->no_clock.what, c->no_clock.fix[0] ? "; fix: " : "", c->no_clock.fix);
	else
		report_note(report,
			    "used: CPU time by the task clock of the command and its descendants, "
			    "exact at each switch; includes interrupts during this time");
	if (!c->no_clock.code && c->no_pmu)
		report_note(report, "the user share of this time is unknown: no PMU counts cycles "
				    "by mode; the kernel splits its own figure by ticks");
	report_note(report, "accounted: user and system time by wait4(), which includes only "
			    "descendants that were waited for");
}

static void add_command_notes(const struct audit_command *c, struct report *report)
{
	if (WIFSIGNALED(c->status))
		report_note(report, "the command was ended by signal %d (%s)", WTERMSIG(c->status),
			    strsignal(WTERMSIG(c->status)));
	else
		report_note(report, "the command exited with %d", WEXITSTATUS(c->status));
	if (c->stopped)
		report_note(report, "stopped early: the command was sent SIGTERM");
	add_clock_notes(c, report);
	if (c->truth)
		report_note(report,
			    "modes: CPUs %s while the command ran, including other tasks; the true "
			    "time is by source %s, within 1 point in windows of a second; the "
			    "shown time has units of 1/USER_HZ per CPU and column",
			    c->cpus, c->truth);
	else
		report_note(report, "the true busy time of the CPUs is unavailable: %s%s%s",
			    c->no_truth.what, c->no_truth.fix[0] ? "; fix: " : "", c->no_truth.fix);
}

int audit_command_report(const struct audit_findings *findings, const struct audit_command *command,
			 struct report **ret_report, struct err *err)
{
	struct report *report = audit_report("command", NULL, findings, command->window_ns,
					     command->truth ?: "task-clock");
	bool killed = WIFSIGNALED(command->status);
	struct program_row row = {
		.command_line = command->text,
		.cpu_list = command->cpus,
		.status = killed ? UINT32_MAX : WEXITSTATUS(command->status),
		.signal = killed ? WTERMSIG(command->status) : UINT32_MAX,
	};

	if (!report)
		return audit_report_done(NULL, ret_report, err);
	columns_set(report, &audit_program_fields_table, 0, &row);
	columns_row(columns_table(report, &audit_program_table, 0), command);
	audit_modes_rows(columns_table(report, &audit_command_modes_table, AUDIT_BY_LOAD),
			 &(struct audit_modes_of){.load = "command"}, command->levels);
	if (command->truth)
		columns_set(report, &load_losses_table, 0, &command->losses);
	add_command_notes(command, report);
	return audit_report_done(report, ret_report, err);
}
