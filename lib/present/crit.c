/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick crit`: costs, costs per CPU, cost of the tracepoints, notes. */
#include "present/crit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "host/cpu.h"

static bool in_ns(const struct crit_engine *engine)
{
	return !strcmp(engine->ops->unit, "ns");
}

/* Adds a table in the unit of @engine, ns or cycles. The metrics in @spec must be in ns. */
static struct table *add_table(const struct crit_engine *engine, const struct table_spec *spec,
			       const double *percent, unsigned int nr, struct report *report)
{
	struct table *table = columns_percentiles(report, spec, 0, percent, nr);

	if (table && !in_ns(engine))
		array_for_each(col, table->cols, table->nr_cols)
			col->metric = metric_get(metric_find(col->metric->key, UNIT_CYCLES));
	return table;
}

#define FIGURE(row, id, member, ...) \
	COLUMN(struct row, id, member, .flags = COLUMN_INTEGER | COLUMN_LATER, __VA_ARGS__)

struct op_row {
	const char *op;
	struct crit_spread batch, median;
	double average, max, max_avg;
};

#define OP(id, member, ...) FIGURE(op_row, id, member, __VA_ARGS__)
static const struct column_spec op_columns[] = {
	COLUMN(struct op_row, M_CRIT_OP, op),
	OP(M_CRIT_BATCH_NS, batch.mid),
	OP(M_CRIT_BATCH_NS, batch.low, .key = "batch_low", .title = "low"),
	OP(M_CRIT_BATCH_NS, batch.high, .key = "batch_high", .title = "high"),
	OP(M_CRIT_MEDIAN_NS, median.mid),
	OP(M_CRIT_MEDIAN_NS, median.low, .key = "median_low", .title = "low"),
	OP(M_CRIT_MEDIAN_NS, median.high, .key = "median_high", .title = "high"),
	OP(M_CRIT_AVERAGE_NS, average),
	OP(M_CRIT_MAX_NS, max),
	OP(M_CRIT_MAX_AVG_NS, max_avg),
	COLUMN_PERCENTILES(M_CRIT_PERCENTILE_NS, "percentiles.pN"),
};
static const struct table_spec ops_table = TABLE("ops", NULL, op_columns);

/*
 * Runs are compared by the batch mean in ns, or by the median in cycles. Text output in ns hides
 * the range of the median; text output in cycles hides the batch mean and its range.
 */
static void hide(struct table *table, bool ns)
{
	static const char *const in_ns_hidden[] = {"median_low", "median_high", NULL};
	static const char *const in_cycles_hidden[] = {"batch", "batch_low", "batch_high", NULL};

	for (const char *const *key = ns ? in_ns_hidden : in_cycles_hidden; *key; key++)
		table->cols[table_find(table, *key)].data_only = true;
}

static void add_ops(const struct crit_engine *engine, const struct crit_opts *opts,
		    const struct crit_result *result, struct report *report)
{
	double percent[CRIT_MAX_PERCENTILES];
	struct table *table;
	int first;

	for (unsigned int i = 0; i < opts->nr_percentiles; i++)
		percent[i] = opts->percentile[i] / (double)CRIT_PERCENT;
	table = add_table(engine, &ops_table, percent, opts->nr_percentiles, report);
	if (!table)
		return;
	hide(table, in_ns(engine));
	first = table_find(table, "max_avg") + 1;
	for (int op = 0; op < CRIT_NR_OPS; op++) {
		struct op_row from = {
			.op = crit_op_names[op],
			.batch = CRIT_FIGURE(result, op, batch),
			.median = CRIT_FIGURE(result, op, median),
			.average = CRIT_FIGURE(result, op, average).mid,
			.max = CRIT_FIGURE(result, op, max).high,
			.max_avg = CRIT_FIGURE(result, op, max_avg).mid,
		};
		size_t row = columns_row(table, &from);

		for (unsigned int i = 0; i < opts->nr_percentiles; i++)
			columns_f64(table_cell(table, row, first + i),
				    CRIT_FIGURE(result, op, percentile[i]).mid);
	}
}

/* Range of a member of struct crit_cpu over all rounds. Every round measures the same CPUs. */
#define CPU_FIGURE(result, index, member)                                   \
	({                                                                  \
		double values[CRIT_MAX_ROUNDS];                             \
		for (unsigned int r = 0; r < (result)->nr_rounds; r++)      \
			values[r] = (result)->rounds[r].cpus[index].member; \
		crit_spread_of(values, (result)->nr_rounds);                \
	})

struct cpu_row {
	uint32_t cpu;
	const char *op;
	double median, average, max, batch;
};

static const struct column_spec cpu_columns[] = {
	COLUMN(struct cpu_row, M_CPU, cpu),
	COLUMN(struct cpu_row, M_CRIT_OP, op),
	COLUMN(struct cpu_row, M_CRIT_MEDIAN_NS, median, .flags = COLUMN_INTEGER),
	COLUMN(struct cpu_row, M_CRIT_AVERAGE_NS, average, .flags = COLUMN_INTEGER),
	COLUMN(struct cpu_row, M_CRIT_MAX_NS, max, .flags = COLUMN_INTEGER),
	FIGURE(cpu_row, M_CRIT_BATCH_NS, batch),
};
static const struct table_spec cpus_table = TABLE("per_cpu", "per CPU", cpu_columns);

static void add_cpus(const struct crit_engine *engine, const struct crit_result *result,
		     struct report *report)
{
	struct table *table = add_table(engine, &cpus_table, NULL, 0, report);
	const struct crit_round *round = &result->rounds[0];

	for (unsigned int i = 0; i < round->nr_cpus; i++)
		for (int op = 0; op < CRIT_NR_OPS; op++) {
			const struct cpu_row row = {
				.cpu = round->cpus[i].cpu,
				.op = crit_op_names[op],
				.median = CPU_FIGURE(result, i, op[op].median).mid,
				.average = CPU_FIGURE(result, i, op[op].average).mid,
				.max = CPU_FIGURE(result, i, op[op].max).high,
				.batch = CPU_FIGURE(result, i, batch[op]).mid,
			};

			if (!isnan(round->op[op].median))
				columns_row(table, &row);
		}
}

struct difference_row {
	const char *op;
	double before, now, after;
	struct crit_difference d;
	int8_t exceeds;
};

#define COST(member, name, heading)                                                     \
	COLUMN(struct difference_row, M_CRIT_BATCH_NS, member, .flags = COLUMN_INTEGER, \
	       .key = name, .title = heading)
#define DIFFERENCE(member, name, heading) \
	COLUMN(struct difference_row, M_CRIT_DIFFERENCE_NS, member, .key = name, .title = heading)
static const struct column_spec trace_columns[] = {
	COLUMN(struct difference_row, M_CRIT_OP, op),
	COST(before, "off_before", "off"),
	COST(now, "on", "on"),
	COST(after, "off_after", "off again"),
	DIFFERENCE(d.value, "cost", "cost"),
	DIFFERENCE(d.low, "cost_low", "at least"),
	DIFFERENCE(d.high, "cost_high", "at most"),
	COLUMN(struct difference_row, M_CRIT_EXCEEDS, exceeds),
};
static const struct table_spec trace_table =
	TABLE("tracepoints", "cost of enabling the tracepoints", trace_columns);

static void add_difference(struct table *table, const struct crit_spread *a,
			   const struct crit_spread *b, struct difference_row *row)
{
	bool unknown = crit_differ(a, b, &row->d);

	if (unknown)
		row->d = (struct crit_difference){.value = NAN, .low = NAN, .high = NAN};
	row->exceeds = unknown ? -1 : row->d.exceeds;
	columns_row(table, row);
}

/*
 * Returns the costs of @op without tracing. The range covers the rounds before and after tracing,
 * so that a drift of the costs widens the range.
 */
static struct crit_spread both_off(const struct crit_trace *trace, enum crit_op op)
{
	struct crit_spread a = crit_compared(&trace->off_before, op);
	struct crit_spread b = crit_compared(&trace->off_after, op);

	if (!a.rounds || !b.rounds)
		return a.rounds ? a : b;
	return (struct crit_spread){
		.low = fmin(a.low, b.low),
		.mid = (a.mid + b.mid) / 2,
		.high = fmax(a.high, b.high),
		.rounds = a.rounds + b.rounds,
	};
}

static void add_trace(const struct crit_engine *engine, const struct crit_trace *trace,
		      struct report *report)
{
	struct table *table = add_table(engine, &trace_table, NULL, 0, report);

	for (int op = 0; op < CRIT_NR_OPS; op++) {
		struct crit_spread off = both_off(trace, op), on = crit_compared(&trace->on, op);
		struct difference_row row = {
			.op = crit_op_names[op],
			.before = crit_compared(&trace->off_before, op).mid,
			.now = on.mid,
			.after = crit_compared(&trace->off_after, op).mid,
		};

		add_difference(table, &off, &on, &row);
	}
	if (!trace->has_irq)
		report_note(report, "this kernel has no irq_disable and irq_enable events "
				    "(CONFIG_IRQSOFF_TRACER), so irq and irq_save show no cost");
	if (!trace->has_preempt)
		report_note(report, "this kernel has no preempt_disable and preempt_enable events "
				    "(CONFIG_PREEMPT_TRACER), so preempt shows no cost");
	if (!trace->on.nr_rounds || !trace->off_after.nr_rounds)
		report_note(report, "stopped before all three phases were measured");
}

#define WITH_CLOCK 1

struct quality_row {
	double step_ns, clock_ns, call_ns;
	uint64_t below;
};

#define QUALITY(id, member, ...) COLUMN(struct quality_row, id, member, __VA_ARGS__)
static const struct column_spec quality_columns[] = {
	QUALITY(M_CRIT_STEP_NS, step_ns, .flags = COLUMN_LATER),
	QUALITY(M_CRIT_CLOCK_NS, clock_ns, .when = WITH_CLOCK),
	QUALITY(M_CRIT_CALL_NS, call_ns, .when = WITH_CLOCK),
	/*
	 * Samples below the measurement overhead count as 0 ns and are not losses. If an operation
	 * takes less than a clock step, about half of all samples are below the overhead.
	 */
	QUALITY(M_CRIT_BELOW_TOTAL, below, .when = WITH_CLOCK, .flags = COLUMN_DATA_ONLY),
};
static const struct table_spec quality_table = TABLE("quality", NULL, quality_columns);

static void add_quality(const struct crit_engine *engine, const struct crit_result *result,
			struct report *report)
{
	struct quality_row row = {
		.step_ns = 1e9 / (double)cycles_hz(),
		.clock_ns = crit_figure(result, offsetof(struct crit_round, clock_ns)).mid,
		.call_ns = crit_figure(result, offsetof(struct crit_round, call_ns)).mid,
	};

	array_for_each(round, result->rounds, result->nr_rounds)
		row.below += round->below_overhead;
	columns_set(report, &quality_table, in_ns(engine) ? WITH_CLOCK : 0, &row);
	if (in_ns(engine) && isfinite(row.step_ns) && row.step_ns > 1)
		report_note(report, "one step of the clock is %.3g ns", row.step_ns);
}

/* Operation with the largest difference between batch mean and median; CRIT_NR_OPS if unknown. */
static enum crit_op furthest_apart(const struct crit_result *result)
{
	enum crit_op worst = CRIT_NR_OPS;
	double most = -1.0;

	for (int op = 0; op < CRIT_NR_OPS; op++) {
		double apart = fabs(CRIT_FIGURE(result, op, batch).mid -
				    CRIT_FIGURE(result, op, median).mid);

		if (apart > most) {
			most = apart;
			worst = op;
		}
	}
	return worst;
}

static void note_recommended(const struct crit_result *result, struct report *report)
{
	enum crit_op op = furthest_apart(result);

	if (op == CRIT_NR_OPS) {
		report_note(report,
			    "use the median with care: a single pair overlaps with the clock reads "
			    "around it, so the median can be too low, and it is a whole number of "
			    "clock steps; engine bpf also measures in batches");
		return;
	}
	report_note(report,
		    "use batch for the cost of a pair (%s: batch %.3g ns, median %.3g ns): a "
		    "batch has 32 pairs between two clock reads; a single pair overlaps with the "
		    "clock reads around it and has no finer resolution than one clock step. "
		    "Single pairs show how the cost spreads: percentiles, max, max avg",
		    crit_op_names[op], CRIT_FIGURE(result, op, batch).mid,
		    CRIT_FIGURE(result, op, median).mid);
}

static void add_notes(const struct crit_engine *engine, const struct crit_opts *opts,
		      const struct crit_result *result, struct report *report)
{
	report_note(report, "engine %s: %s", engine->ops->name, engine->ops->what);
	note_recommended(result, report);
	for (int op = 0; op < CRIT_NR_OPS; op++)
		if (isnan(result->rounds[0].op[op].median))
			report_note(report, "%s: %s", crit_op_names[op],
				    op == CRIT_IRQ ? "no kernel has a kfunc for this operation; "
						     "use --engine module"
						   : "this kernel has no kfunc for this operation; "
						     "use --engine module");
	for (unsigned int i = 0; i < opts->nr_percentiles && !in_ns(engine); i++)
		if (opts->percentile[i] % CRIT_PERCENT &&
		    isnan(result->rounds[0].op[CRIT_IRQ].percentile[i])) {
			report_note(report, "the loaded module is an older version: it reports "
					    "whole percentiles only");
			break;
		}
	if (!result->rounds[0].nr_cpus)
		report_note(report, "the loaded module is an older version: it reports no figures "
				    "per CPU, and percentiles of one CPU only");
	if (result->rounds[0].percentile_cpu >= 0)
		report_note(
			report,
			"percentiles come from new samples, which CPU %d took one after another",
			result->rounds[0].percentile_cpu);
	if (!in_ns(engine) && cpuset_count(&opts->cpus))
		report_note(report,
			    "all online CPUs were measured at the same time; the figures are for "
			    "the chosen CPUs, except max avg, which is for all CPUs");
	if (result->nr_rounds < opts->rounds)
		report_note(report, "stopped after %u of %u rounds", result->nr_rounds,
			    opts->rounds);
	if (result->nr_rounds == 1)
		report_note(report,
			    "only one round was measured, so low and high are equal to the figure");
}

struct field_row {
	const char *engine, *unit, *recommended;
	uint64_t nr_samples, nr_highest, rounds;
	bool work;
	uint32_t percentile_cpu;
};

static const struct column_spec field_columns[] = {
	COLUMN(struct field_row, M_CRIT_ENGINE, engine),
	COLUMN(struct field_row, M_CRIT_UNIT, unit),
	COLUMN(struct field_row, M_CRIT_RECOMMENDED, recommended, .flags = COLUMN_LATER),
	COLUMN(struct field_row, M_CRIT_NR_SAMPLES, nr_samples),
	COLUMN(struct field_row, M_CRIT_NR_HIGHEST, nr_highest),
	COLUMN(struct field_row, M_CRIT_DO_WORK, work),
	COLUMN(struct field_row, M_CRIT_ROUNDS, rounds),
	COLUMN(struct field_row, M_CRIT_PERCENTILE_CPU, percentile_cpu, .flags = COLUMN_OPTIONAL),
};
static const struct table_spec fields_table = TABLE("", NULL, field_columns);

const struct table_spec *const crit_tables[] = {
	&fields_table, &ops_table, &cpus_table, &trace_table, &quality_table, NULL,
};

int crit_report(const struct crit_engine *engine, const struct crit_opts *opts,
		const struct crit_result *result, const struct crit_trace *trace,
		struct report **ret_report)
{
	struct report *report =
		report_begin("crit", clock_unix_ns(), result->window_ns, engine->ops->name);
	int cpu = result->rounds[0].percentile_cpu;
	struct field_row row = {
		.engine = engine->ops->name,
		.unit = engine->ops->unit,
		.recommended = furthest_apart(result) == CRIT_NR_OPS ? "median" : "batch",
		.nr_samples = opts->nr_samples,
		.nr_highest =
			opts->nr_highest < opts->nr_samples ? opts->nr_highest : opts->nr_samples,
		.rounds = result->nr_rounds,
		.work = opts->work,
		.percentile_cpu = cpu < 0 ? UINT32_MAX : (uint32_t)cpu,
	};

	if (!report)
		return -ENOMEM;
	columns_set(report, &fields_table, 0, &row);
	add_ops(engine, opts, result, report);
	add_cpus(engine, result, report);
	if (trace)
		add_trace(engine, trace, report);
	add_quality(engine, result, report);
	add_notes(engine, opts, result, report);
	return report_finish(report, ret_report);
}
