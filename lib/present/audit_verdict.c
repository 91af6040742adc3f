/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats the verdict of audit from the findings of all experiments. Lists the tables of audit. */
#include "present/audit.h"

#include <errno.h>
#include <math.h>

#include "present/load.h"

static void note_regime(const struct audit_findings *f, struct report *report)
{
	static const char *const texts[] = {
		[AUDIT_TICK] = "this kernel accounts CPU time by the tick: %u times a second it "
			       "charges the whole tick to the task or interrupt that runs then",
		[AUDIT_SAMPLED] = "this kernel accounts tasks by the tick, %u times a second; "
				  "whether it measures interrupts is unknown",
		[AUDIT_IRQTIME] = "this kernel measures interrupts and softirqs exactly "
				  "(IRQ_TIME_ACCOUNTING), but accounts tasks by the tick, %u times "
				  "a second",
		[AUDIT_VIRT_GEN] = "on this core the kernel measures CPU time at each switch "
				   "(VIRT_CPU_ACCOUNTING): the columns are exact to their unit",
	};
	enum audit_regime regime = audit_regime(f);

	if (regime == AUDIT_UNKNOWN)
		report_note(report, "how this kernel accounts CPU time is unknown%s%s",
			    f->tick_unclear ? ": " : "", f->tick_unclear ?: "");
	else
		report_note(report, texts[regime], f->hz);
}

static void note_window(struct report *report, const char *want, uint64_t window_ns)
{
	char text[16];

	if (window_ns)
		report_note(report,
			    "under a load that is not synchronous with the tick, /proc/stat is "
			    "accurate to %s in 95 of 100 windows of about %s s",
			    want, audit_seconds(window_ns, text));
	else
		report_note(
			report,
			"under a load that is not synchronous with the tick, /proc/stat is never "
			"accurate to %s, however long the window",
			want);
}

static void note_windows(const struct audit_findings *f, struct report *report)
{
	char text[16];

	note_window(report, "1 %", f->good_1_ns);
	note_window(report, "0.1 %", f->good_01_ns);
	report_note(report,
		    "both window lengths are estimates from the errors of "
		    "/proc/stat in windows of 0.1 to %s s (root mean square in the longest: "
		    "%.2f points)",
		    audit_seconds(f->good_from_ns, text), f->good_error * 100.0);
}

static void note_rest(const struct audit_findings *f, struct report *report)
{
	if (f->softirq_known)
		report_note(report, "softirqs that run inline on the idle task %s",
			    f->softirq_as_idle >= 0.5
				    ? "count as idle time: the idle column is wrong "
				      "under network load"
				    : "do not count as idle time: 1 − the idle "
				      "column includes them");
	if (f->hide_found)
		report_note(report,
			    "with a hidden task the core was %.1f %% busy, and the columns showed "
			    "%.1f %%",
			    f->hidden_true * 100.0, f->hidden_shown * 100.0);
	if (f->worst_known)
		report_note(report, "the worst error in a window of %.3g s: %.1f points, under %s",
			    (double)f->worst_window_ns / 1e9, f->worst_error * 100.0,
			    f->worst_load);
	if (f->good_disturbed)
		report_note(
			report,
			"how long a window must be is unknown, because other tasks used the core; "
			"try again on a quieter machine");
	if (f->good_known)
		note_windows(f, report);
}

static void note_instead(const struct audit_findings *f, struct report *report)
{
	if (audit_regime(f) == AUDIT_VIRT_GEN && !(f->worst_known && f->worst_error > 0.01))
		report_note(report, "/proc/stat is accurate on this machine; tools that read "
				    "/proc/stat can be used");
	else if (audit_regime(f) == AUDIT_UNKNOWN)
		report_note(report,
			    "whether /proc/stat is accurate is unknown; try again on a quieter "
			    "machine, or use subtick load");
	else if (f->softirq_known && f->softirq_as_idle < 0.5)
		report_note(report, "use subtick load; if it does not work on a machine, use 1 − "
				    "idle columns ÷ wall time (subtick load --source procidle), not the busy columns");
	else
		report_note(report, "use subtick load instead of the columns of /proc/stat");
}

struct field_row {
	const char *regime;
	double coherence, irq_coherence;
	int8_t softirq_is_idle;
	double hidden_true, hidden_shown, worst_error;
	uint64_t good_1_ns, good_01_ns;
};

static const struct column_spec field_columns[] = {
	COLUMN(struct field_row, M_REGIME, regime),
	COLUMN(struct field_row, M_COHERENCE_RATIO, coherence),
	COLUMN(struct field_row, M_IRQ_COHERENCE_RATIO, irq_coherence),
	COLUMN(struct field_row, M_SOFTIRQ_IS_IDLE, softirq_is_idle),
	COLUMN(struct field_row, M_HIDDEN_TRUE_RATIO, hidden_true),
	COLUMN(struct field_row, M_HIDDEN_SHOWN_RATIO, hidden_shown),
	COLUMN(struct field_row, M_WORST_ERROR_RATIO, worst_error),
	COLUMN(struct field_row, M_GOOD_1_NS, good_1_ns),
	COLUMN(struct field_row, M_GOOD_01_NS, good_01_ns),
};
const struct table_spec audit_verdict_table = TABLE("", NULL, field_columns, .optional = true);

static uint64_t window_or_null(const struct audit_findings *f, uint64_t ns)
{
	return f->good_known && ns ? ns : UINT64_MAX;
}

int audit_verdict_report(const struct audit_opts *opts, const struct audit_findings *f,
			 uint64_t window_ns, struct report **ret_report, struct err *err)
{
	struct report *report = audit_report("verdict", opts, f, window_ns, f->source);
	const struct field_row row = {
		.regime = audit_regime_name(audit_regime(f)),
		.coherence = f->tick_known ? f->busy_coherence : NAN,
		.irq_coherence = f->irq_known ? f->irq_coherence : NAN,
		.softirq_is_idle = f->softirq_known ? f->softirq_as_idle >= 0.5 : -1,
		.hidden_true = f->hide_found ? f->hidden_true : NAN,
		.hidden_shown = f->hide_found ? f->hidden_shown : NAN,
		.worst_error = f->worst_known ? f->worst_error : NAN,
		.good_1_ns = window_or_null(f, f->good_1_ns),
		.good_01_ns = window_or_null(f, f->good_01_ns),
	};

	if (!report)
		return err_set(err, -ENOMEM, "out of memory");
	columns_set(report, &audit_verdict_table, 0, &row);
	note_regime(f, report);
	note_rest(f, report);
	note_instead(f, report);
	return audit_report_done(report, ret_report, err);
}

const struct table_spec *const audit_tables[] = {
	&audit_fields_table,
	&audit_delays_fields_table,
	&audit_precision_table,
	&audit_program_fields_table,
	&audit_verdict_table,
	&audit_sets_table,
	&audit_peaks_table,
	&audit_intervals_table,
	&audit_delays_table,
	&audit_loads_table,
	&audit_errors_table,
	&audit_phases_table,
	&audit_modes_table,
	&audit_command_modes_table,
	&audit_program_table,
	&audit_claims_table,
	&audit_paper_table,
	&load_losses_table,
	&audit_blurred_table,
	NULL,
};
