/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick audit sources`. */
#include "present/audit.h"

#include <math.h>

#include "present/load.h"

/* Figures of one test load over its whole run. */
struct load_row {
	const char *name;
	uint64_t window_ns, period_ns, phase_ns;
	double burn, thread, truth, softirq, shown, columns_sum, loadavg, true_loadavg;
};

static const struct column_spec load_columns[] = {
	COLUMN(struct load_row, M_AUDIT_LOAD, name),
	COLUMN(struct load_row, M_CPU_WINDOW_NS, window_ns),
	COLUMN(struct load_row, M_PERIOD_NS, period_ns, .flags = COLUMN_EMPTY_IS_NULL),
	COLUMN(struct load_row, M_PHASE_NS, phase_ns),
	COLUMN(struct load_row, M_BURN_RATIO, burn),
	COLUMN(struct load_row, M_THREAD_RATIO, thread),
	COLUMN(struct load_row, M_TRUE_RATIO, truth),
	COLUMN(struct load_row, M_SOFTIRQ_ON_IDLE_RATIO, softirq),
	COLUMN(struct load_row, M_SHOWN_RATIO, shown),
	COLUMN(struct load_row, M_COLUMNS_SUM_RATIO, columns_sum),
	COLUMN(struct load_row, M_LOADAVG, loadavg, .flags = COLUMN_LATER),
	COLUMN(struct load_row, M_TRUE_LOADAVG, true_loadavg, .flags = COLUMN_LATER),
};
const struct table_spec audit_loads_table =
	TABLE("loads", "the loads, and what /proc/stat shows", load_columns);

static void add_load(struct table *table, const struct audit_load_run *run)
{
	bool truth = !(run->truth.flags & LOAD_NO_FIGURE);
	bool columns = run->columns.window_ns && !(run->columns.flags & LOAD_NO_FIGURE);
	columns_row(table, &(struct load_row){
				   .name = run->name,
				   .window_ns = run->truth.window_ns,
				   .period_ns = run->period_ns,
				   .phase_ns = run->phase_known ? run->phase_ns : UINT64_MAX,
				   .burn = run->recorded ? run->burn_ratio : NAN,
				   .thread = run->recorded ? run->thread_ratio : NAN,
				   .truth = truth ? run->truth.busy_ratio : NAN,
				   .softirq = truth && run->parts_known
						      ? load_part_ratio(&run->truth,
									LOAD_PART_SOFTIRQ_ON_IDLE)
						      : NAN,
				   .shown = columns ? run->columns.busy_ratio : NAN,
				   .columns_sum = columns ? run->columns_sum : NAN,
				   .loadavg = run->loadavg,
				   .true_loadavg = run->true_loadavg,
			   });
}

/* Errors of one source under one load in windows of one length. */
struct error_row {
	const char *load, *source;
	uint64_t window_ns;
	struct audit_error e; /* load error of the source; null without valid windows */
};

static const struct column_spec error_columns[] = {
	COLUMN(struct error_row, M_AUDIT_LOAD, load, .flags = COLUMN_LATER),
	COLUMN(struct error_row, M_AUDIT_SOURCE, source),
	COLUMN(struct error_row, M_ERROR_WINDOW_NS, window_ns),
	COLUMN(struct error_row, M_WINDOWS_TOTAL, e.windows, .flags = COLUMN_LATER),
	COLUMN(struct error_row, M_UNAVAILABLE_TOTAL, e.voids, .flags = COLUMN_LATER | COLUMN_DATA_ONLY),
	COLUMN(struct error_row, M_TRUE_RATIO, e.true_ratio, .flags = COLUMN_LATER),
	COLUMN(struct error_row, M_SHOWN_RATIO, e.shown_ratio, .flags = COLUMN_LATER),
	COLUMN(struct error_row, M_ERROR_RATIO, e.bias, .flags = COLUMN_LATER),
	COLUMN(struct error_row, M_ERROR_MEDIAN_RATIO, e.median, .flags = COLUMN_LATER),
	COLUMN(struct error_row, M_ERROR_P99_RATIO, e.p99, .flags = COLUMN_LATER),
	COLUMN(struct error_row, M_ERROR_MAX_RATIO, e.max),
};
const struct table_spec audit_errors_table =
	TABLE("errors", "errors of each source, in percentage points", error_columns);

static void add_errors(struct table *table, const struct audit_load_run *run, const char *source,
		       const struct audit_error *errors, const uint64_t *windows_ns, size_t nr)
{
	/* Skip window lengths that exceed the run time of the test load. */
	for (size_t i = 0; i < nr; i++)
		if (errors[i].windows || errors[i].voids)
			columns_row(table, &(struct error_row){run->name, source, windows_ns[i],
							       errors[i]});
}

static const struct column_spec phase_columns[] = {
	COLUMN(struct phase_probe, M_PHASE_NS, phase_ns),
	COLUMN(struct phase_probe, M_TRUE_RATIO, true_ratio),
	COLUMN(struct phase_probe, M_SHOWN_RATIO, shown_ratio),
};
const struct table_spec audit_phases_table =
	TABLE("phases", "shown and true load, by the phase of the busy periods", phase_columns,
	      .text_hidden = true);

static void add_tables(const struct audit_opts *opts, const struct audit_sources *s,
		       struct report *report)
{
	struct table *loads = columns_table(report, &audit_loads_table, 0);
	struct table *errors = columns_table(report, &audit_errors_table, 0);
	struct table *phases = columns_table(report, &audit_phases_table, 0);
	struct table *modes = columns_table(report, &audit_modes_table, AUDIT_BY_LOAD);

	if (report->failed)
		return;
	/* In a brief run, the text format does not show the table of errors. */
	errors->text_hidden = opts->brief;
	array_for_each(probe, s->hide.probes, s->hide_searched ? AUDIT_PROBES : 0)
		if (probe->valid)
			columns_row(phases, probe);
	array_for_each(run, s->runs, AUDIT_NR_LOADS) {
		if (run->state != AUDIT_MEASURED)
			continue;
		add_load(loads, run);
		if (run->levels_known)
			audit_modes_rows(modes, &(struct audit_modes_of){.load = run->name},
					 run->levels);
		for (unsigned int at = 1; at < s->nr_sources; at++) {
			add_errors(errors, run, s->names[at], run->fine[at], audit_fine_ns,
				   AUDIT_NR_FINE);
			add_errors(errors, run, s->names[at], run->errors[at], audit_windows_ns,
				   AUDIT_NR_WINDOWS);
		}
	}
}

static void note_column(const struct audit_load_run *run, enum audit_mode mode,
			struct report *report)
{
	const struct audit_level *level = &run->levels[mode];

	if (run->levels_known && !isnan(level->error))
		report_note(report, "load \"%s\": column %s shows %.1f %% of the time, true are %.1f %%",
			    run->name, audit_mode_name(mode), level->shown * 100.0, level->truth * 100.0);
}

static void note_run(const struct audit_load_run *run, unsigned int cpu, struct report *report)
{
	if (run->state == AUDIT_NOT_TRIED)
		report_note(report, "load \"%s\" was left out: %s%s%s", run->name, run->why.what,
			    run->why.fix[0] ? "; fix: " : "", run->why.fix);
	if (run->state == AUDIT_NOT_SENT)
		report_note(report, "load \"%s\" was left out: its packets could not be sent",
			    run->name);
	if (run->state != AUDIT_MEASURED)
		return;
	if (run->burns == AUDIT_MODE_NICE || run->waits_for_io)
		note_column(run, run->waits_for_io ? AUDIT_MODE_IOWAIT : AUDIT_MODE_NICE, report);
	if (run->disturbed)
		report_note(report, "other tasks used %.0f points of the core during load \"%s\"",
			    (run->truth.busy_ratio - run->thread_ratio) * 100.0, run->name);
	if (run->strayed)
		report_note(report, "load \"%s\" did not stay on CPU %u: the verdict ignores it",
			    run->name, cpu);
}

static void note_hidden(const struct audit_opts *opts, const struct audit_findings *f,
			const struct audit_sources *s, struct report *report)
{
	if (f->hide_found)
		report_note(report,
			    "a task that burns %.0f %% of each tick at phase %.2f ms: the core was "
			    "%.1f %% busy, the columns of /proc/stat show %.1f %%",
			    opts->share * 100.0, (double)f->hidden_phase_ns / 1e6,
			    f->hidden_true * 100.0, f->hidden_shown * 100.0);
	else if (f->hide_tried && f->hidden_true > 0.0)
		report_note(
			report,
			"phase %.2f ms hid a task during the search, but not later: the core was "
			"%.1f %% busy, the columns show %.1f %%; other tasks may have used it",
			(double)f->hidden_phase_ns / 1e6, f->hidden_true * 100.0,
			f->hidden_shown * 100.0);
	else if (f->hide_tried && !f->hide_phase)
		report_note(report, "no phase hides a task from /proc/stat");
	else if (!s->hide_searched && s->others_ratio > AUDIT_OTHERS_MAX)
		report_note(report,
			    "no search for a phase that hides a task: other tasks use %.0f %% of the "
			    "core; name a free one with -C",
			    s->others_ratio * 100.0);
	else if (s->hide_too_long)
		report_note(report, "no search for a phase that hides a task: it takes longer than "
				    "--budget allows");
	else if (s->hide_searched && !s->hide.enough && !s->hide.stopped)
		report_note(report, "the search for a phase that hides a task failed: other tasks "
				    "kept the core too busy");
}

static void add_notes(const struct audit_opts *opts, const struct audit_findings *f,
		      const struct audit_sources *s, struct report *report)
{
	array_for_each(run, s->runs, AUDIT_NR_LOADS)
		note_run(run, opts->cpu, report);
	report_note(report, "the true load is that of source %s; errors are in percentage points",
		    s->names[0]);
	if (s->passed_over.code)
		report_note(report, "a better source for the true load is unavailable: %s",
			    s->passed_over.what);
	if (!f->tick_known && f->tick_unclear)
		report_note(
			report,
			"the tick is unknown: %s; loads that should be synchronous with it have a "
			"period of %.3g ms instead",
			f->tick_unclear, (double)s->tick_ns / 1e6);
	note_hidden(opts, f, s, report);
	if (s->stopped)
		report_note(report, "stopped early");
}

int audit_sources_report(const struct audit_opts *opts, const struct audit_findings *findings,
			 const struct audit_sources *sources, struct report **ret_report,
			 struct err *err)
{
	struct report *report =
		audit_report("sources", opts, findings, sources->window_ns, sources->names[0]);

	if (report) {
		add_tables(opts, sources, report);
		columns_set(report, &load_losses_table, 0, &sources->losses);
		add_notes(opts, findings, sources, report);
	}
	return audit_report_done(report, ret_report, err);
}
