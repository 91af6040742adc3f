/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of `subtick load`: CPUs, comparison, softirq vectors, bursts, quality. */
#include "measure/load/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "measure/load/sources.h"
#include "report/columns.h"
#include "stats/hist.h"

/* In the order in which the bar stacks them. */
static const struct {
	enum load_part part;
	enum metric_id metric;
} parts[] = {
	{LOAD_PART_TASK, M_TASK_RATIO},
	{LOAD_PART_HARDIRQ, M_HARDIRQ_RATIO},
	{LOAD_PART_SOFTIRQ_ON_IDLE, M_SOFTIRQ_ON_IDLE_RATIO},
	{LOAD_PART_SOFTIRQ_ON_TASK, M_SOFTIRQ_ON_TASK_RATIO},
	{LOAD_PART_KSOFTIRQD, M_KSOFTIRQD_RATIO},
	{LOAD_PART_IDLE_LOOP, M_IDLE_LOOP_RATIO},
	{LOAD_PART_STEAL, M_STEAL_RATIO},
	{LOAD_PART_UNKNOWN, M_UNKNOWN_RATIO},
	{LOAD_PART_POLL_IDLE, M_POLL_IDLE_RATIO},
	{LOAD_PART_IDLE, M_IDLE_RATIO},
};

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

/* Names of the kernel's softirqs, in the order of its enum since 2.6.31. */
static const char *const vec_names[LOAD_NR_VECS] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
};

/* A source in its own column of the comparison; without one, null. */
static const struct {
	const char *source;
	enum metric_id metric;
} compare_cols[] = {
	{"bpf", M_CMP_BPF},
	{"procstat", M_CMP_PROCSTAT},
	{"procidle", M_CMP_PROCIDLE},
	{"schedstat", M_CMP_SCHEDSTAT},
	{"taskclock", M_CMP_TASKCLOCK},
	{"perf-tsc", M_CMP_PERF_TSC},
	{"perf-calibrated", M_CMP_PERF_CAL},
	{"bpf-pmu", M_CMP_BPF_PMU},
};

static bool knows(const struct load_result *r, enum load_part part)
{
	if (part == LOAD_PART_STEAL)
		return r->source[0]->parts && r->steal_known;
	return r->source[0]->parts >> part & 1;
}

static void fill_parts(const struct load_result *r, struct table *table, size_t row, size_t col,
		       const struct load_cpu_window *w)
{
	for (size_t i = 0; i < NR_PARTS; i++)
		if (knows(r, parts[i].part))
			value_f64(table_cell(table, row, col + i),
				  load_part_ratio(w, parts[i].part));
	if (r->source[0]->parts)
		value_f64(table_cell(table, row, col + NR_PARTS), w->closure_error_ratio);
}

static void fill_compare(const struct load_result *r, struct table *table, size_t row, size_t col,
			 unsigned int cpu)
{
	for (size_t i = 0; i < sizeof(compare_cols) / sizeof(compare_cols[0]); i++)
		for (unsigned int lane = 0; lane < r->nr_lanes; lane++) {
			const struct load_cpu_window *w = &r->windows[lane][cpu];

			if (!strcmp(r->source[lane]->ops->name, compare_cols[i].source) &&
			    !(w->flags & LOAD_NO_FIGURE))
				value_f64(table_cell(table, row, col + i), w->busy_ratio);
		}
}

static void add_cpus(const struct load_result *r, struct report *report)
{
	struct table *table = report_table(report, "cpus", NULL);
	size_t col_cpu = table_col(table, M_CPU);
	size_t col_online = table_col(table, M_ONLINE);
	size_t col_busy = table_col(table, M_BUSY_RATIO);
	size_t col_part = SIZE_MAX, col_compare = SIZE_MAX, col_window, col_flags;
	unsigned int cpu;

	for (size_t i = 0; i < NR_PARTS; i++) {
		size_t col = table_col(table, parts[i].metric);

		if (!i)
			col_part = col;
	}
	table_col(table, M_CLOSURE_ERROR_RATIO);
	col_window = table_col(table, M_CPU_WINDOW_NS);
	col_flags = table_col(table, M_FLAGS);
	for (size_t i = 0; r->opts->compare && i < sizeof(compare_cols) / sizeof(compare_cols[0]);
	     i++) {
		size_t col = table_col(table, compare_cols[i].metric);

		if (!i)
			col_compare = col;
	}
	if (!table || report->failed)
		return;
	table->bar_first = col_part;
	table->bar_end = col_part + NR_PARTS;
	table->cols[col_online].data_only = true;
	table->cols[col_window].data_only = true;
	/* What the source cannot tell is no column for people. */
	for (size_t i = 0; i < NR_PARTS; i++)
		table->cols[col_part + i].data_only = r->opts->compare || !knows(r, parts[i].part);
	table->cols[col_part + NR_PARTS].data_only = r->opts->compare || !r->source[0]->parts;

	cpuset_for_each(cpu, &r->opts->cpus) {
		const struct load_cpu_window *w;
		char flags[96];
		size_t row;

		if (cpu >= r->nr_cpus)
			break;
		w = &r->windows[0][cpu];
		row = table_row(table);
		value_u64(table_cell(table, row, col_cpu), cpu);
		value_bool(table_cell(table, row, col_online), !(w->flags & LOAD_OFFLINE));
		load_flags_format(w->flags, flags, sizeof(flags));
		value_str(table_cell(table, row, col_flags), flags);
		if (r->opts->compare)
			fill_compare(r, table, row, col_compare, cpu);
		if (w->flags & LOAD_NO_FIGURE)
			continue;
		value_f64(table_cell(table, row, col_busy), w->busy_ratio);
		value_u64(table_cell(table, row, col_window), w->window_ns);
		fill_parts(r, table, row, col_part, w);
	}
}

static void add_softirqs(const struct load_result *r, struct report *report)
{
	struct table *table = report_table(report, "softirqs", "softirqs by vector");
	size_t col_cpu = table_col(table, M_CPU), col_vec = table_col(table, M_SOFTIRQ_VEC);
	size_t col_ratio = table_col(table, M_SOFTIRQ_RATIO);
	size_t col_count = table_col(table, M_SOFTIRQ_COUNT);
	unsigned int cpu;

	cpuset_for_each(cpu, &r->opts->cpus) {
		const struct load_cpu_window *w;

		if (cpu >= r->nr_cpus)
			break;
		w = &r->windows[0][cpu];
		for (int vec = 0; vec < LOAD_NR_VECS && !(w->flags & LOAD_NO_FIGURE); vec++) {
			uint64_t ns = r->vecs_cur[cpu].ns[vec] - r->vecs_prev[cpu].ns[vec];
			uint64_t count = r->vecs_cur[cpu].count[vec] - r->vecs_prev[cpu].count[vec];
			size_t row;

			if (!count && !ns)
				continue;
			row = table_row(table);
			value_u64(table_cell(table, row, col_cpu), cpu);
			value_str(table_cell(table, row, col_vec), vec_names[vec]);
			value_f64(table_cell(table, row, col_ratio), (double)ns / (double)w->window_ns);
			value_u64(table_cell(table, row, col_count), count);
		}
	}
}

/* Cumulative counts at powers of two, which are bucket edges and therefore exact. */
static void add_burst_edges(struct table *parent, size_t row, size_t col, const uint64_t *count)
{
	struct table *le = table_nested(parent, row, col, "le");
	size_t col_le = table_col(le, M_BURST_LE_NS), col_count = table_col(le, M_COUNT);
	uint64_t sum = 0, total = hist_total(count);

	for (unsigned int i = 0; i < HIST_NR && sum < total; i++) {
		size_t sub;

		sum += count[i];
		if ((i + 1) % HIST_SUB || hist_high(i) < 1024 || !sum)
			continue;
		sub = table_row(le);
		value_u64(table_cell(le, sub, col_le), hist_high(i) - 1);
		value_u64(table_cell(le, sub, col_count), sum);
	}
}

static void add_bursts(const struct load_result *r, struct report *report)
{
	static const struct {
		double percent;
		const char *key, *title;
	} points[] = {{50, "p50_ns", "p50"}, {90, "p90_ns", "p90"}, {99, "p99_ns", "p99"}};
	struct table *table = report_table(report, "bursts", "busy bursts between two idle periods");
	size_t col_cpu = table_col(table, M_CPU), col_count = table_col(table, M_COUNT), col_p[3];
	size_t col_le;
	unsigned int cpu;

	for (size_t i = 0; i < 3; i++)
		col_p[i] = table_col_as(table, M_PERCENTILE_NS, points[i].key, points[i].title);
	col_le = table_col(table, M_BUCKETS);
	cpuset_for_each(cpu, &r->opts->cpus) {
		uint64_t count[HIST_NR];
		size_t row;

		if (cpu >= r->nr_cpus)
			break;
		for (unsigned int i = 0; i < HIST_NR; i++)
			count[i] = r->bursts_cur[cpu * HIST_NR + i] -
				   r->bursts_prev[cpu * HIST_NR + i];
		row = table_row(table);
		value_u64(table_cell(table, row, col_cpu), cpu);
		value_u64(table_cell(table, row, col_count), hist_total(count));
		for (size_t i = 0; i < 3 && hist_total(count); i++)
			value_u64(table_cell(table, row, col_p[i]),
				  hist_percentile(count, points[i].percent));
		add_burst_edges(table, row, col_le, count);
	}
}

static void add_notes(const struct load_result *r, struct report *report)
{
	report_note(report, "source %s: %s", r->source[0]->ops->name, r->source[0]->ops->what);
	if (r->passed_over)
		report_note(report, "a better source was passed over: %s%s%s",
			    r->passed_over->what, r->passed_over->fix[0] ? "; fix: " : "",
			    r->passed_over->fix);
	if (r->opts->softirq && !r->vecs_cur)
		report_note(report, "source %s does not see softirq vectors: use --source bpf",
			    r->source[0]->ops->name);
	if (r->opts->bursts && !r->bursts_prev)
		report_note(report, "source %s does not see busy bursts: use --source bpf",
			    r->source[0]->ops->name);
}

void load_report_losses(const struct load_losses *losses, struct report *report)
{
#define LOSS(metric, member) COLUMN(struct load_losses, metric, member, .flags = COLUMN_OPTIONAL)
	static const struct column_spec specs[] = {
		LOSS(M_TORN_TOTAL, torn),
		LOSS(M_ODD_EDGES_TOTAL, odd_edges),
		LOSS(M_PAUSED_LOST_TOTAL, paused_lost),
		LOSS(M_RECURSION_MISSES_TOTAL, recursion_misses),
		LOSS(M_READ_ERROR_TOTAL, read_errors),
	};
#undef LOSS

	columns_quality(report, COLUMNS(specs), losses);
}

int load_report(const struct load_result *r, struct report **ret_report)
{
	struct load_losses losses;
	struct report *report = report_new("load");
	double closure = 0.0;
	unsigned int cpu;
	int rc;

	if (!report)
		return -ENOMEM;
	report->time_unix_ns = clock_unix_ns();
	report->window_ns = r->window_ns;
	report_source(report, r->source[0]->ops->name);
	add_cpus(r, report);
	if (r->vecs_cur)
		add_softirqs(r, report);
	if (r->bursts_prev)
		add_bursts(r, report);
	cpuset_for_each(cpu, &r->opts->cpus)
		if (cpu < r->nr_cpus && r->windows[0][cpu].closure_error_ratio > closure)
			closure = r->windows[0][cpu].closure_error_ratio;
	if (r->source[0]->parts)
		value_f64(report_quality(report, M_CLOSURE_MAX_RATIO), closure);
	value_bool(report_quality(report, M_STEAL_KNOWN), r->steal_known);
	load_source_losses(r->source[0], &losses);
	load_report_losses(&losses, report);
	add_notes(r, report);
	rc = report_check(report);
	if (rc) {
		report_free(report);
		return rc;
	}
	*ret_report = report;
	return 0;
}
