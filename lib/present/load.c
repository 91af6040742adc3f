/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick load`: CPUs, comparison, softirq vectors, bursts, quality. */
#include "present/load.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/findings.h"
#include "stats/hist.h"

/* All load sources in column order: X(suffix of the metric id, name). */
#define SHOWN(X)                  \
	X(BPF, "bpf")             \
	X(PROCSTAT, "procstat")   \
	X(PROCIDLE, "procidle")   \
	X(SCHEDSTAT, "schedstat") \
	X(TASKCLOCK, "taskclock") \
	X(PERF_TSC, "perf-tsc")   \
	X(PERF_CAL, "perf-calibrated") \
	X(BPF_PMU, "bpf-pmu")

#define SHOWN_ENUM(id, name) SHOWN_##id,
#define SHOWN_NAME(id, name) name,
enum { SHOWN(SHOWN_ENUM) NR_SHOWN };
static const char *const shown_names[NR_SHOWN] = {SHOWN(SHOWN_NAME)};

struct cpu_row {
	uint32_t cpu;
	uint32_t place[TOPOLOGY_NR];
	int8_t online;
	double busy_ratio;
	double part_ratio[LOAD_NR_PARTS];
	double closure_error_ratio;
	uint64_t window_ns;
	char flags[96];
	double shown_ratio[NR_SHOWN];
};

#define CPU(id, member, ...) COLUMN(struct cpu_row, id, member, __VA_ARGS__)
#define WITH_COMPARE	     1
#define WITH_TOPOLOGY	     2
#define PLACE(id)	     CPU(M_##id, place[TOPOLOGY_##id], .when = WITH_TOPOLOGY)

static const struct column_spec cpu_columns[] = {
	CPU(M_CPU, cpu),
	PLACE(CORE),
	PLACE(LLC),
	PLACE(NODE),
	PLACE(PACKAGE),
	CPU(M_ONLINE, online, .flags = COLUMN_DATA_ONLY),
	CPU(M_BUSY_RATIO, busy_ratio),
#define PART(id, part) CPU(id, part_ratio[LOAD_PART_##part]),
	LOAD_PART_COLUMNS(PART, PART) CPU(M_CLOSURE_ERROR_RATIO, closure_error_ratio),
	CPU(M_CPU_WINDOW_NS, window_ns, .flags = COLUMN_DATA_ONLY),
	CPU(M_FLAGS, flags),
/* If this machine lacks a source, the column of this source contains only null values. */
#define COMPARED(id, name) CPU(M_CMP_##id, shown_ratio[SHOWN_##id], .when = WITH_COMPARE),
	SHOWN(COMPARED)};

const struct table_spec load_cpus_table = TABLE("cpus", NULL, cpu_columns);
const struct table_spec load_all_table = TABLE("all", NULL, cpu_columns);
/* Table of --by, with a row for each core, cache, node or package. */
static const struct table_spec topology_table = TABLE("topology", NULL, cpu_columns);

/* Load part that a column shows; at least LOAD_NR_PARTS if the column shows none. */
static unsigned int part_of(const struct column_spec *spec)
{
	size_t first = offsetof(struct cpu_row, part_ratio);

	return spec->offset < first ? LOAD_NR_PARTS : (spec->offset - first) / sizeof(double);
}

/*
 * Text output hides the parts that the load source cannot measure. With --compare, text output
 * hides all parts.
 */
static struct table *add_table(const struct load_window *w, const struct table_spec *spec,
			       struct report *report)
{
	struct table *table = columns_table(report, spec, (w->compare ? WITH_COMPARE : 0) |
								  (w->topology ? WITH_TOPOLOGY : 0));

	if (!table)
		return NULL;
	array_for_each(col, table->cols, table->nr_cols) {
		unsigned int part = part_of(col->spec);

		if (part < LOAD_NR_PARTS)
			col->data_only = w->compare || !(w->parts >> part & 1);
		else if (col->spec->metric == M_CLOSURE_ERROR_RATIO)
			col->data_only = w->compare || !w->parts;
	}
	table->bar_first = table_metric(table, M_TASK_RATIO);
	table->bar_end = table_metric(table, M_IDLE_RATIO) + 1;
	return table;
}

static void fill_ratios(const struct load_window *w, const struct load_cpu_window *c, bool figure,
			struct cpu_row *row)
{
	row->busy_ratio = figure ? c->busy_ratio : NAN;
	row->closure_error_ratio = figure && w->parts ? c->closure_error_ratio : NAN;
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		row->part_ratio[i] = figure && w->parts >> i & 1 ? load_part_ratio(c, i) : NAN;
	load_flags_format(c->flags, row->flags, sizeof(row->flags));
}

static void fill_row(const struct load_window *w, unsigned int cpu, struct cpu_row *row)
{
	const struct load_cpu_window *c = &w->cpu[cpu];
	bool figure = !(c->flags & LOAD_NO_FIGURE);

	row->cpu = cpu;
	if (w->topology)
		memcpy(row->place, w->topology[cpu].id, sizeof(row->place));
	row->online = !(c->flags & LOAD_OFFLINE);
	row->window_ns = figure ? c->window_ns : UINT64_MAX;
	fill_ratios(w, c, figure, row);
	for (int i = 0; i < NR_SHOWN; i++) {
		const struct load_cpu_window *shown = load_shown(w, shown_names[i], cpu);

		row->shown_ratio[i] = shown ? shown->busy_ratio : NAN;
	}
}

static void sum_shown(const struct load_window *w, const struct cpuset *cpus, struct cpu_row *row)
{
	for (unsigned int i = 0; i < NR_SHOWN; i++) {
		struct load_cpu_window sum;

		row->shown_ratio[i] = NAN;
		array_for_each(shown, w->shown, w->nr_shown)
			if (!strcmp(shown->source, shown_names[i]) &&
			    load_sum(shown->cpu, cpus, &sum))
				row->shown_ratio[i] = sum.busy_ratio;
	}
}

/* Adds the sum of @cpus. The row has the core, cache, node and package ids that all @cpus share. */
static void add_sum(const struct load_window *w, const struct cpuset *cpus, const char *name,
		    struct table *table)
{
	struct load_cpu_window sum;
	unsigned int first = cpuset_next(cpus, 0), nr = load_sum(w->cpu, cpus, &sum);
	struct cpu_row row = {.cpu = UINT32_MAX, .online = -1, .window_ns = UINT64_MAX};

	memset(row.place, 0xff, sizeof(row.place)); /* set all topology ids to TOPOLOGY_UNKNOWN */
	for (int level = 0; w->topology && first < CPUSET_MAX && level < TOPOLOGY_NR; level++) {
		row.place[level] = w->topology[first].id[level];
		cpuset_for_each(cpu, cpus)
			if (w->topology[cpu].id[level] != row.place[level])
				row.place[level] = TOPOLOGY_UNKNOWN;
	}
	fill_ratios(w, &sum, nr > 0, &row);
	sum_shown(w, cpus, &row);
	if (nr < cpuset_count(cpus))
		snprintf(row.flags, sizeof(row.flags), "%u-of-%u", nr, cpuset_count(cpus));
	value_str(table_cell(table, columns_row(table, &row), 0), name);
}

static void add_groups(const struct load_window *w, struct report *report)
{
	struct table *table = add_table(w, &topology_table, report);
	unsigned int unknown = 0;

	cpuset_for_each(cpu, &w->cpus) {
		struct cpuset group;
		char name[256];

		topology_group(w->topology, w->nr_cpus, w->by, cpu, &group);
		unknown += !cpuset_count(&group);
		cpuset_and(&group, &w->cpus);
		if (!table || cpuset_next(&group, 0) != cpu)
			continue;
		cpuset_format(&group, name, sizeof(name));
		add_sum(w, &group, name, table);
	}
	if (unknown)
		report_note(report, "the %s of %u CPUs is unknown: offline, or the kernel does not report it",
			    topology_names[w->by], unknown);
}

static void add_cpus(const struct load_window *w, struct report *report)
{
	struct table *table = add_table(w, &load_cpus_table, report), *all;

	cpuset_for_each(cpu, &w->cpus) {
		struct cpu_row row;

		fill_row(w, cpu, &row);
		columns_row(table, &row);
	}
	if (table)
		table->text_hidden = w->by;
	if (w->by)
		add_groups(w, report);
	all = add_table(w, &load_all_table, report);
	if (!all)
		return;
	all->sum = true;
	add_sum(w, &w->cpus, "all", all);
}

struct vec_row {
	uint32_t cpu;
	const char *vec;
	double ratio;
	uint64_t count;
};

static const struct column_spec vec_columns[] = {
	COLUMN(struct vec_row, M_CPU, cpu),
	COLUMN(struct vec_row, M_SOFTIRQ_VEC, vec),
	COLUMN(struct vec_row, M_SOFTIRQ_RATIO, ratio),
	COLUMN(struct vec_row, M_SOFTIRQ_COUNT, count),
};
static const struct table_spec vecs_table = TABLE("softirqs", "softirqs by vector", vec_columns);

static void add_softirqs(const struct load_window *w, struct report *report)
{
	struct table *table = columns_table(report, &vecs_table, 0);

	cpuset_for_each(cpu, &w->cpus) {
		const struct load_vecs *vecs = &w->cpu_vecs[cpu];

		if (w->cpu[cpu].flags & LOAD_NO_FIGURE)
			continue;
		for (int i = 0; i < LOAD_NR_VECS; i++) {
			double ratio = (double)vecs->ns[i] / (double)w->cpu[cpu].window_ns;

			if (vecs->count[i] || vecs->ns[i])
				columns_row(table, &(struct vec_row){cpu, load_vec_name(i), ratio,
								     vecs->count[i]});
		}
	}
}

struct burst_row {
	uint32_t cpu;
	uint64_t count, p50_ns, p90_ns, p99_ns;
};

#define PERCENTILE(member, name) \
	COLUMN(struct burst_row, M_PERCENTILE_NS, member, .key = #member, .title = name)
static const struct column_spec burst_columns[] = {
	COLUMN(struct burst_row, M_CPU, cpu),
	COLUMN(struct burst_row, M_COUNT, count),
	PERCENTILE(p50_ns, "p50"),
	PERCENTILE(p90_ns, "p90"),
	PERCENTILE(p99_ns, "p99"),
	COLUMN_BUCKETS(),
};
static const struct table_spec bursts_table =
	TABLE("bursts", "busy bursts between two idle periods", burst_columns);

/*
 * Adds the number of busy periods up to each power of two in ns. The numbers are exact, because
 * powers of two are upper bounds of histogram buckets.
 */
static void add_burst_edges(struct table *table, size_t row, const uint64_t *count)
{
	struct bucket_row buckets[HIST_NR / HIST_SUB];
	uint64_t sum = 0, total = hist_total(count);
	size_t nr = 0;

	for (unsigned int i = 0; i < HIST_NR && sum < total; i++) {
		sum += count[i];
		if ((i + 1) % HIST_SUB || hist_high(i) < 1024 || !sum)
			continue;
		buckets[nr++] = (struct bucket_row){hist_high(i) - 1, sum};
	}
	columns_buckets(table, row, buckets, nr);
}

static void add_bursts(const struct load_window *w, struct report *report)
{
	struct table *table = columns_table(report, &bursts_table, 0);

	cpuset_for_each(cpu, &w->cpus) {
		const uint64_t *bursts = w->cpu_bursts[cpu];
		struct burst_row row = {cpu, hist_total(bursts), UINT64_MAX, UINT64_MAX,
					UINT64_MAX};

		if (row.count) {
			row.p50_ns = hist_percentile(bursts, 50);
			row.p90_ns = hist_percentile(bursts, 90);
			row.p99_ns = hist_percentile(bursts, 99);
		}
		add_burst_edges(table, columns_row(table, &row), bursts);
	}
}

static void add_notes(const struct load_window *w, struct report *report)
{
	const struct err *better = w->passed_over;

	report_note(report, "source %s: %s", w->source, w->what);
	if (better)
		report_note(report, "a better source is unavailable: %s%s%s", better->what,
			    better->fix[0] ? "; fix: " : "", better->fix);
	if (w->softirq && !w->cpu_vecs)
		load_note_unmeasured(w, "softirq vectors", report);
	if (w->bursts && !w->cpu_bursts)
		load_note_unmeasured(w, "busy bursts", report);
}

#define LOSS(member, key) \
	COLUMN(struct load_losses, M_##key##_total, member, .flags = COLUMN_OPTIONAL),
static const struct column_spec loss_columns[] = {LOAD_LOSSES(LOSS) LOAD_IRQ_LOSSES(LOSS)};
const struct table_spec load_losses_table = TABLE("quality", NULL, loss_columns);

static const struct column_spec quality_columns[] = {
	COLUMN(struct load_window, M_CLOSURE_MAX_RATIO, closure_max_ratio,
	       .flags = COLUMN_OPTIONAL),
	COLUMN(struct load_window, M_STEAL_KNOWN, steal_known),
};
const struct table_spec load_quality_table = TABLE("quality", NULL, quality_columns);

static const struct column_spec field_columns[] = {
	COLUMN(struct load_window, M_WRONG_RATIO, wrong_ratio,
	       .flags = COLUMN_OPTIONAL | COLUMN_DATA_ONLY),
};
const struct table_spec load_fields_table = TABLE("", NULL, field_columns);

const struct table_spec *const load_tables[] = {
	&load_fields_table,
	&load_cpus_table,
	&topology_table,
	&load_all_table,
	&load_cores_table,
	&load_pairs_table,
	&vecs_table,
	&load_irqs_table,
	&load_tasks_table,
	&bursts_table,
	&findings_table,
	&load_quality_table,
	&load_losses_table,
	NULL,
};

struct report *load_report_begin(const char *command, const struct load_window *w, double steal_lost)
{
	struct report *report = report_begin(command, w->time_unix_ns, w->window_ns, w->source);

	if (!report)
		return NULL;
	columns_set(report, &load_fields_table, 0, w);
	add_cpus(w, report);
	if (w->cpu_vecs)
		add_softirqs(w, report);
	if (w->cpu_bursts)
		add_bursts(w, report);
	load_report_who(w, report);
	columns_set(report, &load_quality_table, 0, w);
	columns_set(report, &load_losses_table, 0, &w->losses);
	findings_begin(report);
	load_findings(w, steal_lost, report);
	add_notes(w, report);
	return report;
}

int load_report(const struct load_window *w, struct report **ret_report)
{
	struct report *report = load_report_begin("load", w, 1.0);

	return report_finish(report, ret_report);
}
