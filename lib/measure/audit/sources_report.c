/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills the tables of audit sources. */
#include "measure/audit/sources_report.h"

const uint64_t audit_windows_ns[AUDIT_NR_WINDOWS] = {10000000, 100000000, 1000000000, 10000000000};

static void add_cols(struct table *table, const enum metric_id *ids, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		table_col(table, ids[i]);
}

#define ADD_COLS(table, ids) add_cols(table, ids, sizeof(ids) / sizeof((ids)[0]))

void audit_tables_init(struct audit_tables *t, struct report *report)
{
	static const enum metric_id loads[] = {
		M_AUDIT_LOAD,  M_CPU_WINDOW_NS,	    M_PERIOD_NS,  M_PHASE_NS,
		M_BURN_RATIO,  M_THREAD_RATIO,	    M_TRUE_RATIO, M_SOFTIRQ_ON_IDLE_RATIO,
		M_SHOWN_RATIO, M_COLUMNS_SUM_RATIO,
	};
	static const enum metric_id errors[] = {
		M_AUDIT_LOAD,	      M_AUDIT_SOURCE,	 M_ERROR_WINDOW_NS, M_WINDOWS_TOTAL,
		M_VOID_TOTAL,	      M_TRUE_RATIO,	 M_SHOWN_RATIO,	    M_ERROR_RATIO,
		M_ERROR_MEDIAN_RATIO, M_ERROR_P99_RATIO, M_ERROR_MAX_RATIO,
	};
	static const enum metric_id probes[] = {M_PHASE_NS, M_TRUE_RATIO, M_SHOWN_RATIO};

	t->loads = report_table(report, "loads", "the loads, and what /proc/stat shows of them");
	t->errors = report_table(report, "errors", "errors of each source, in points of load");
	t->probes = report_table(report, "phases", "what is shown of a locked burn, by its phase");
	ADD_COLS(t->loads, loads);
	ADD_COLS(t->errors, errors);
	ADD_COLS(t->probes, probes);
	if (!report->failed) {
		t->probes->text_hidden = true;
		t->errors->cols[4].data_only = true;
	}
}

static void set_ratio(struct table *table, size_t row, size_t col, bool known, double ratio)
{
	if (known)
		value_f64(table_cell(table, row, col), ratio);
}

void audit_tables_scene(struct audit_tables *t, const struct audit_scene *scene)
{
	bool truth = !(scene->truth.flags & LOAD_NO_FIGURE);
	bool columns = scene->columns.window_ns && !(scene->columns.flags & LOAD_NO_FIGURE);
	size_t row = table_row(t->loads);

	value_str(table_cell(t->loads, row, 0), scene->name);
	value_u64(table_cell(t->loads, row, 1), scene->truth.window_ns);
	if (scene->period_ns)
		value_u64(table_cell(t->loads, row, 2), scene->period_ns);
	if (scene->phase_known)
		value_u64(table_cell(t->loads, row, 3), scene->phase_ns);
	set_ratio(t->loads, row, 4, scene->booked, scene->burn_ratio);
	set_ratio(t->loads, row, 5, scene->booked, scene->thread_ratio);
	set_ratio(t->loads, row, 6, truth, scene->truth.busy_ratio);
	set_ratio(t->loads, row, 7, truth && scene->parts_known,
		  load_part_ratio(&scene->truth, LOAD_PART_SOFTIRQ_ON_IDLE));
	set_ratio(t->loads, row, 8, columns, scene->columns.busy_ratio);
	set_ratio(t->loads, row, 9, columns, scene->columns_sum);
}

void audit_tables_errors(struct audit_tables *t, const struct audit_scene *scene,
			 const char *source, const struct audit_error errors[AUDIT_NR_WINDOWS])
{
	for (size_t i = 0; i < AUDIT_NR_WINDOWS; i++) {
		const struct audit_error *e = &errors[i];
		size_t row;

		if (!e->windows && !e->voids)
			continue;
		row = table_row(t->errors);
		value_str(table_cell(t->errors, row, 0), scene->name);
		value_str(table_cell(t->errors, row, 1), source);
		value_u64(table_cell(t->errors, row, 2), audit_windows_ns[i]);
		value_u64(table_cell(t->errors, row, 3), e->windows);
		value_u64(table_cell(t->errors, row, 4), e->voids);
		/* Not a number, and so null, where every window was void. */
		value_f64(table_cell(t->errors, row, 5), e->true_ratio);
		value_f64(table_cell(t->errors, row, 6), e->shown_ratio);
		value_f64(table_cell(t->errors, row, 7), e->bias);
		value_f64(table_cell(t->errors, row, 8), e->median);
		value_f64(table_cell(t->errors, row, 9), e->p99);
		value_f64(table_cell(t->errors, row, 10), e->max);
	}
}

void audit_tables_probes(struct audit_tables *t, const struct phase_probe *probes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t row;

		if (!probes[i].valid)
			continue;
		row = table_row(t->probes);
		value_u64(table_cell(t->probes, row, 0), probes[i].phase_ns);
		value_f64(table_cell(t->probes, row, 1), probes[i].true_ratio);
		value_f64(table_cell(t->probes, row, 2), probes[i].shown_ratio);
	}
}
