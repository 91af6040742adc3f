/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of audit -- COMMAND. */
#include "present/audit.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "present/load.h"

#define ROW(metric, member, ...) COLUMN(struct audit_command, metric, member, __VA_ARGS__)

static const struct column_spec program_columns[] = {
	ROW(M_RUSAGE_USER_NS, rusage_user_ns), ROW(M_RUSAGE_SYSTEM_NS, rusage_system_ns),
	ROW(M_TASK_CLOCK_NS, task_clock_ns),   ROW(M_TRUE_USER_NS, true_user_ns),
	ROW(M_TRUE_SYSTEM_NS, true_system_ns), ROW(M_RUSAGE_FACTOR_RATIO, rusage_factor),
	ROW(M_USER_ERROR_RATIO, user_error),   ROW(M_OTHERS_NS, others_ns),
};
const struct table_spec audit_program_table =
	TABLE("program", "the command: accounted and used CPU time", program_columns);

struct field_row {
	const char *command_line, *cpu_list;
	uint32_t status, signal;
};

static const struct column_spec field_columns[] = {
	COLUMN(struct field_row, M_COMMAND_LINE, command_line),
	COLUMN(struct field_row, M_CPU_LIST, cpu_list),
	COLUMN(struct field_row, M_EXIT_STATUS, status),
	COLUMN(struct field_row, M_EXIT_SIGNAL, signal),
};
const struct table_spec audit_program_fields_table =
	TABLE("", NULL, field_columns, .optional = true);

static void add_clock_notes(const struct audit_command *c, struct report *report)
{
	if (c->no_clock.code)
		report_note(report, "what the command used is unknown: %s%s%s", c->no_clock.what,
			    c->no_clock.fix[0] ? "; fix: " : "", c->no_clock.fix);
	else
		report_note(report,
			    "used: the task clock of the command and all its descendants (task "
			    "based, no cgroup), exact to the switch; it contains the interrupts "
			    "that came while they ran");
	if (!c->no_clock.code && c->no_pmu)
		report_note(report, "how much of it was in user mode is unknown: no PMU counts "
				    "cycles by mode here; the kernel splits its own figure by "
				    "ticks");
	report_note(report, "accounted: user and system time by wait4(), which has the descendants "
			    "that were waited for");
}

static void add_notes(const struct audit_command *c, struct report *report)
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
			    "modes: CPUs %s while the command ran, with their other tasks; true by "
			    "source %s, within 1 point in windows of a second; shown in units of "
			    "1/USER_HZ per CPU and column",
			    c->cpus, c->truth);
	else
		report_note(report, "the true busy time of the CPUs is unavailable: %s%s%s",
			    c->no_truth.what, c->no_truth.fix[0] ? "; fix: " : "", c->no_truth.fix);
}

int audit_command_report(const struct audit_findings *findings, const struct audit_command *command,
			 struct report **ret_report, struct err *err)
{
	struct report *report = audit_report("command", NULL, findings, command->window_ns);
	bool killed = WIFSIGNALED(command->status);
	struct field_row row = {
		.command_line = command->text,
		.cpu_list = command->cpus,
		.status = killed ? UINT32_MAX : WEXITSTATUS(command->status),
		.signal = killed ? WTERMSIG(command->status) : UINT32_MAX,
	};

	if (!report)
		return audit_report_done(NULL, ret_report, err);
	report_source(report, command->truth ? command->truth : "task-clock");
	columns_set(report, &audit_program_fields_table, 0, &row);
	columns_row(columns_table(report, &audit_program_table, 0), command);
	audit_modes_rows(columns_table(report, &audit_command_modes_table, AUDIT_BY_LOAD),
			 &(struct audit_modes_of){.load = "command"}, command->levels);
	if (command->truth)
		columns_set(report, &load_losses_table, 0, &command->losses);
	add_notes(command, report);
	return audit_report_done(report, ret_report, err);
}
