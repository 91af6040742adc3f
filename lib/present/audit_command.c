/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of audit -- COMMAND. */
#include "present/audit.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "present/load.h"
#include "report/columns.h"

#define ROW(metric, member, ...) COLUMN(struct audit_command, metric, member, __VA_ARGS__)

static const struct column_spec program[] = {
	ROW(M_RUSAGE_USER_NS, rusage_user_ns), ROW(M_RUSAGE_SYSTEM_NS, rusage_system_ns),
	ROW(M_TASK_CLOCK_NS, task_clock_ns),   ROW(M_TRUE_USER_NS, true_user_ns),
	ROW(M_TRUE_SYSTEM_NS, true_system_ns), ROW(M_RUSAGE_FACTOR_RATIO, rusage_factor),
	ROW(M_USER_ERROR_RATIO, user_error),   ROW(M_OTHERS_NS, others_ns),
};

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

static void add_modes(const struct audit_command *c, struct report *report)
{
	struct table *table = report_table(report, "modes", "the CPUs of the command, by mode");

	audit_modes_columns(table, true);
	/* It is the result here, not a detail. */
	if (table)
		table->text_hidden = false;
	audit_modes_rows(table, &(struct audit_modes_of){.load = "command"}, c->levels);
}

int audit_command_report(const struct audit_findings *findings, const struct audit_command *command,
			 struct report **ret_report, struct err *err)
{
	struct report *report = audit_report("command", NULL, findings, command->window_ns);
	struct table *table;

	if (!report)
		return audit_report_done(NULL, ret_report, err);
	report_source(report, command->truth ? command->truth : "task-clock");
	value_str(report_field(report, M_COMMAND_LINE), command->text);
	value_str(report_field(report, M_CPU_LIST), command->cpus);
	if (WIFSIGNALED(command->status)) {
		value_null(report_field(report, M_EXIT_STATUS));
		value_u64(report_field(report, M_EXIT_SIGNAL), WTERMSIG(command->status));
	} else {
		value_u64(report_field(report, M_EXIT_STATUS), WEXITSTATUS(command->status));
		value_null(report_field(report, M_EXIT_SIGNAL));
	}
	table = report_table(report, "program", "the command: accounted and used CPU time");
	columns_add(table, COLUMNS(program));
	columns_row(table, COLUMNS(program), command);
	add_modes(command, report);
	if (command->truth)
		load_report_losses(&command->losses, report);
	add_notes(command, report);
	return audit_report_done(report, ret_report, err);
}
