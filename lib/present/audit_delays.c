/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick audit delays`. */
#include "present/audit.h"

#include <math.h>
#include <stdio.h>

#include "present/load.h"

#define ROW(metric, member, ...) COLUMN(struct audit_delay, metric, member, __VA_ARGS__)

static const struct column_spec delay_columns[] = {
	ROW(M_DELAY_NS, delay_ns),
	ROW(M_SLACK_NS, slack_ns),
	ROW(M_ITERATIONS_TOTAL, iterations, .flags = COLUMN_LATER),
	ROW(M_REAL_NS, real_ns, .flags = COLUMN_LATER),
	ROW(M_EXPECTED_NS, expected_ns, .flags = COLUMN_LATER),
	ROW(M_RUSAGE_USER_NS, rusage_user_ns, .flags = COLUMN_LATER),
	ROW(M_RUSAGE_SYSTEM_NS, rusage_system_ns, .flags = COLUMN_LATER),
	ROW(M_PIDSTAT_USER_NS, pidstat_user_ns, .flags = COLUMN_LATER | COLUMN_DATA_ONLY),
	ROW(M_PIDSTAT_SYSTEM_NS, pidstat_system_ns, .flags = COLUMN_LATER | COLUMN_DATA_ONLY),
	ROW(M_PROCSTAT_USER_NS, procstat_user_ns, .flags = COLUMN_LATER | COLUMN_DATA_ONLY),
	ROW(M_PROCSTAT_SYSTEM_NS, procstat_system_ns, .flags = COLUMN_LATER | COLUMN_DATA_ONLY),
	ROW(M_PROCSTAT_BUSY_NS, procstat_busy_ns, .flags = COLUMN_LATER),
	ROW(M_THREAD_CLOCK_NS, thread_ns, .flags = COLUMN_LATER),
	ROW(M_BPF_TASK_NS, bpf_task_ns, .flags = COLUMN_LATER | COLUMN_DATA_ONLY),
	ROW(M_BPF_BUSY_NS, bpf_busy_ns, .flags = COLUMN_LATER),
	ROW(M_BPF_LOOP_NS, bpf_loop_ns, .flags = COLUMN_LATER | COLUMN_DATA_ONLY),
	ROW(M_REAL_EACH_NS, real_each_ns, .flags = COLUMN_DATA_ONLY),
	ROW(M_USER_EACH_NS, user_each_ns, .flags = COLUMN_DATA_ONLY),
	ROW(M_SYSTEM_EACH_NS, system_each_ns, .flags = COLUMN_DATA_ONLY),
	ROW(M_PROCSTAT_EACH_NS, procstat_each_ns, .flags = COLUMN_LATER | COLUMN_DATA_ONLY),
	ROW(M_TRUE_EACH_NS, true_each_ns),
	ROW(M_USER_TIMES, user_times),
	ROW(M_SYSTEM_TIMES, system_times),
	ROW(M_RUSAGE_FACTOR_RATIO, rusage_factor, .flags = COLUMN_LATER),
	ROW(M_PROCSTAT_FACTOR_RATIO, procstat_factor),
	ROW(M_ERROR_RATIO, error),
	ROW(M_COMPLETE, complete, .flags = COLUMN_LATER | COLUMN_DATA_ONLY),
	ROW(M_RESUMED, resumed, .flags = COLUMN_LATER | COLUMN_DATA_ONLY),
};

const struct table_spec audit_delays_table =
	TABLE("delays", "a loop of sleeps: accounted and true CPU time", delay_columns,
	      .text_hidden = true);

/* Columns of a row in the text format, with fixed widths that fit a terminal of 80 columns. */
static const struct column_spec line_columns[] = {
	ROW(M_DELAY_NS, delay_ns),
	ROW(M_SLACK_NS, slack_ns),
	ROW(M_REAL_EACH_NS, real_each_ns, .title = "real"),
	ROW(M_USER_EACH_NS, user_each_ns, .title = "user"),
	ROW(M_SYSTEM_EACH_NS, system_each_ns, .title = "system"),
	ROW(M_TRUE_EACH_NS, true_each_ns, .title = "true"),
	ROW(M_USER_TIMES, user_times),
	ROW(M_SYSTEM_TIMES, system_times),
	ROW(M_PROCSTAT_FACTOR_RATIO, procstat_factor),
	ROW(M_ERROR_RATIO, error),
};

static const struct table_spec line_table =
	TABLE("delays", "a loop of sleeps: time of one loop, accounted and true", line_columns);

static const struct column_spec field_columns[] = {
	COLUMN(struct audit_delays, M_COMPLETE, complete, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct audit_delays, M_REQUESTED_DELAYS_TOTAL, nr_asked, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct audit_delays, M_REQUESTED_ITERATIONS_TOTAL, asked_iterations,
	       .flags = COLUMN_DATA_ONLY),
	COLUMN(struct audit_delays, M_REQUESTED_EACH_NS, requested_each_ns, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct audit_delays, M_MACHINE, machine, .flags = COLUMN_DATA_ONLY),
};
const struct table_spec audit_delays_fields_table =
	TABLE("", NULL, field_columns, .optional = true);

/*
 * Returns the row with the shortest delay above 0. If the delay was measured with several timer
 * slacks, returns the row with the largest slack if @largest is true, else with the smallest slack.
 * Returns NULL if no delay above 0 was measured.
 */
static const struct audit_delay *shortest(const struct audit_delays *d, bool largest)
{
	const struct audit_delay *best = NULL;

	array_for_each(row, d->rows, d->nr) {
		if (!row->delay_ns || isnan(row->real_each_ns))
			continue;
		if (!best || row->delay_ns < best->delay_ns ||
		    (row->delay_ns == best->delay_ns &&
		     (largest ? row->slack_ns > best->slack_ns : row->slack_ns < best->slack_ns)))
			best = row;
	}
	return best;
}

/* Formats a time as "1 ns" or "50 us". */
static const char *short_time(uint64_t ns, char buf[32])
{
	if (ns < 1000)
		snprintf(buf, 32, "%llu ns", (unsigned long long)ns);
	else
		snprintf(buf, 32, "%.4g us", (double)ns / 1e3);
	return buf;
}

static void add_slack_notes(const struct audit_delays *d, struct report *report)
{
	const struct audit_delay *low = shortest(d, false), *high = shortest(d, true);
	char slack[32], more[32];

	if (d->nr_slack_ignored)
		report_note(report,
			    "the kernel ignored the timer slack of %zu delays, as for real-time "
			    "tasks: run subtick audit with the normal scheduling policy",
			    d->nr_slack_ignored);
	if (!low)
		return;
	if (low->slack_ns != high->slack_ns)
		report_note(report,
			    "a loop with a sleep of %.3g us takes %.2f us with a timer slack of %s "
			    "and %.2f us with %s; the paper's 54 us for a sleep of 1 us include "
			    "the kernel's default slack of 50 us",
			    (double)low->delay_ns / 1e3, low->real_each_ns / 1e3,
			    short_time(low->slack_ns, slack), high->real_each_ns / 1e3,
			    short_time(high->slack_ns, more));
	else if (low->slack_ns != AUDIT_DEFAULT_SLACK_NS)
		report_note(report,
			    "these sleeps have a timer slack of %s; with the kernel's default of "
			    "50 us (--slack default) each sleep ends up to 50 us later",
			    short_time(low->slack_ns, slack));
}

static void add_clock_note(const struct audit_delays *d, struct report *report)
{
	const struct audit_delay *row = shortest(d, false);
	uint64_t used;

	if (!row || !audit_delay_irqs_off(row))
		return;
	used = row->bpf_loop_ns == UINT64_MAX ? row->bpf_task_ns : row->bpf_loop_ns;
	if (used == UINT64_MAX || used <= row->thread_ns)
		return;
	report_note(report,
		    "this kernel measures interrupts (IRQ_TIME_ACCOUNTING), so the loop's thread "
		    "clock, user and system exclude the interrupts that wake the loop: with a "
		    "sleep of %.3g us the clock has %.2f us per loop, by source bpf %s %.2f us",
		    (double)row->delay_ns / 1e3,
		    (double)row->thread_ns / (double)row->iterations / 1e3,
		    row->bpf_loop_ns == UINT64_MAX ? "all tasks of the core used" : "it used",
		    (double)used / (double)row->iterations / 1e3);
}

static void add_notes(const struct audit_delays *d, struct report *report)
{
	double low = INFINITY, high = 0.0;
	size_t nr_finished = 0;

	array_for_each(row, d->rows, d->nr) {
		nr_finished += row->complete;
		if (!row->delay_ns || isnan(row->true_each_ns))
			continue;
		low = fmin(low, row->true_each_ns);
		high = fmax(high, row->true_each_ns);
	}
	if (high > 0.0)
		report_note(report, "the true CPU time of one loop with a sleep is %.2f to %.2f us",
			    low / 1e3, high / 1e3);
	report_note(report,
		    "delay 0 is an invalid call that returns at once: the loop without the sleep");
	add_slack_notes(d, report);
	add_clock_note(d, report);
	if (d->nr_disturbed)
		report_note(report,
			    "other tasks used more than %.0f points of the core during %zu of "
			    "%llu delays: the loops of these delays took longer, and their errors "
			    "seem smaller",
			    AUDIT_OTHERS_MAX * 100.0, d->nr_disturbed,
			    (unsigned long long)d->nr_asked);
	if (!d->truth && d->no_truth.code)
		report_note(report, "the core's true busy time is unavailable: %s%s%s",
			    d->no_truth.what, d->no_truth.fix[0] ? "; fix: " : "", d->no_truth.fix);
	if (d->nr_resumed)
		report_note(report, "%zu of %llu delays are from the earlier run",
			    d->nr_resumed, (unsigned long long)d->nr_asked);
	if (d->failed.code)
		report_note(report, "ended early by an error: %s", d->failed.what);
	else if (!d->complete && d->stopped)
		report_note(report, "stopped early");
	if (d->out_of_time)
		report_note(report, "%zu of %llu delays were measured before --budget ended", d->nr,
			    (unsigned long long)d->nr_asked);
	if (!d->complete && (d->stopped || d->failed.code))
		report_note(report,
			    "%zu of %llu delays are finished; --resume measures the others, given "
			    "the --json output or the --save file of this run",
			    nr_finished, (unsigned long long)d->nr_asked);
}

int audit_delays_report(const struct audit_opts *opts, const struct audit_findings *findings,
			const struct audit_delays *delays, bool last, struct report **ret_report,
			struct err *err)
{
	struct report *report = audit_report("delays", opts, findings, delays->window_ns,
					     delays->truth ?: "thread-clock");
	struct table *table, *modes;

	if (report) {
		columns_set(report, &audit_delays_fields_table, 0, delays);
		table = columns_table(report, &audit_delays_table, 0);
		modes = columns_table(report, &audit_modes_table, AUDIT_BY_DELAY);
		array_for_each(row, delays->rows, delays->nr) {
			if (last && row < row_end - 1)
				continue;
			columns_row(table, row);
			audit_modes_rows(modes,
					 &(struct audit_modes_of){.delay_ns = row->delay_ns,
								  .slack_ns = row->slack_ns},
					 row->levels);
		}
		if (delays->truth)
			columns_set(report, &load_losses_table, 0, &delays->losses);
		add_notes(delays, report);
	}
	return audit_report_done(report, ret_report, err);
}

int audit_delays_line_report(const struct audit_delays *delays, struct report **ret_report,
			     struct err *err)
{
	struct report *report = report_begin("audit", 0, 0, delays->truth ?: "thread-clock");

	if (report)
		columns_row(columns_table(report, &line_table, 0), &delays->rows[delays->nr - 1]);
	return audit_report_done(report, ret_report, err);
}
