/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the report from the rounds: figures, per CPU, tracepoints, comparison, notes. */
#include "present/crit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sys/cycles.h"

/* Each metric exists in ns and in cycles, so that views know the unit. */
#define METRIC(ns, name) ((ns) ? M_CRIT_##name##_NS : M_CRIT_##name##_CYCLES)

static bool in_ns(const struct crit_engine *engine)
{
	return !strcmp(engine->ops->unit, "ns");
}

/* Whole numbers become integers; unavailable figures stay null. */
static void set(const struct table *table, size_t row, size_t col, double value)
{
	struct value *cell = table_cell(table, row, col);

	if (value >= 0 && value == floor(value) && value < 0x1p63)
		value_u64(cell, (uint64_t)value);
	else
		value_f64(cell, value);
}

static void percentile_title(uint32_t percentile, char *title, size_t size)
{
	int len = snprintf(title, size, "p%u.%03u", percentile / CRIT_PERCENT,
			   percentile % CRIT_PERCENT);

	while (title[len - 1] == '0')
		title[--len] = '\0';
	if (title[len - 1] == '.')
		title[--len] = '\0';
}

void crit_percentile_key(uint32_t percentile, char *key, size_t size)
{
	char title[20], *dot;

	percentile_title(percentile, title, sizeof(title));
	dot = strchr(title, '.');
	if (dot)
		memmove(dot, dot + 1, strlen(dot));
	snprintf(key, size, "%s", title);
}

static void add_percentiles(const struct crit_result *result, const struct crit_opts *opts,
			    struct table *table, size_t first, enum crit_op op, size_t row)
{
	for (unsigned int i = 0; i < opts->nr_percentiles; i++)
		set(table, row, first + i, CRIT_FIGURE(result, op, percentile[i]).mid);
}

/* Text shows only the spread of the figure that runs are compared by; JSON and CSV have all. */
static void hide(struct table *table, size_t first, size_t last)
{
	for (size_t i = first; i <= last; i++)
		table->cols[i].data_only = true;
}

static void add_ops(const struct crit_engine *engine, const struct crit_opts *opts,
		    const struct crit_result *result, struct report *report)
{
	struct table *table = report_table(report, "ops", NULL);
	bool ns = in_ns(engine);
	size_t op_col = table_col(table, M_CRIT_OP);
	size_t batch = table_col(table, METRIC(ns, BATCH));
	size_t batch_low = table_col_as(table, METRIC(ns, BATCH), "batch_low", "low");
	size_t batch_high = table_col_as(table, METRIC(ns, BATCH), "batch_high", "high");
	size_t median = table_col(table, METRIC(ns, MEDIAN));
	size_t median_low = table_col_as(table, METRIC(ns, MEDIAN), "median_low", "low");
	size_t median_high = table_col_as(table, METRIC(ns, MEDIAN), "median_high", "high");
	size_t average = table_col(table, METRIC(ns, AVERAGE));
	size_t max = table_col(table, METRIC(ns, MAX));
	size_t max_avg = table_col(table, METRIC(ns, MAX_AVG));
	size_t first = table ? table->nr_cols : 0;

	for (unsigned int i = 0; i < opts->nr_percentiles; i++) {
		char name[20], key[40], title[20];

		percentile_title(opts->percentile[i], title, sizeof(title));
		crit_percentile_key(opts->percentile[i], name, sizeof(name));
		snprintf(key, sizeof(key), "percentiles.%s", name);
		table_col_as(table, METRIC(ns, PERCENTILE), key, title);
	}
	if (table && table->nr_cols > max_avg)
		hide(table, ns ? median_low : batch, ns ? median_high : batch_high);
	for (int op = 0; op < CRIT_NR_OPS; op++) {
		struct crit_spread m = CRIT_FIGURE(result, op, median);
		struct crit_spread b = CRIT_FIGURE(result, op, batch);
		size_t row = table_row(table);

		value_str(table_cell(table, row, op_col), crit_op_names[op]);
		set(table, row, median, m.mid);
		set(table, row, median_low, m.low);
		set(table, row, median_high, m.high);
		set(table, row, average, CRIT_FIGURE(result, op, average).mid);
		set(table, row, max, CRIT_FIGURE(result, op, max).high);
		set(table, row, max_avg, CRIT_FIGURE(result, op, max_avg).mid);
		set(table, row, batch, b.mid);
		set(table, row, batch_low, b.low);
		set(table, row, batch_high, b.high);
		add_percentiles(result, opts, table, first, op, row);
	}
}

/* The median over the rounds for one CPU; all rounds have the same CPUs in the same order. */
static struct crit_spread cpu_figure(const struct crit_result *result, unsigned int index,
				     double (*get)(const struct crit_cpu *cpu, enum crit_op op),
				     enum crit_op op)
{
	double values[CRIT_MAX_ROUNDS];

	for (unsigned int i = 0; i < result->nr_rounds; i++)
		values[i] = get(&result->rounds[i].cpus[index], op);
	return crit_spread_of(values, result->nr_rounds);
}

static double get_median(const struct crit_cpu *cpu, enum crit_op op)
{
	return cpu->op[op].median;
}

static double get_average(const struct crit_cpu *cpu, enum crit_op op)
{
	return cpu->op[op].average;
}

static double get_max(const struct crit_cpu *cpu, enum crit_op op)
{
	return cpu->op[op].max;
}

static double get_batch(const struct crit_cpu *cpu, enum crit_op op)
{
	return cpu->batch[op];
}

static void add_cpus(const struct crit_engine *engine, const struct crit_result *result,
		     struct report *report)
{
	struct table *table = report_table(report, "per_cpu", "per CPU");
	bool ns = in_ns(engine);
	size_t cpu_col = table_col(table, M_CPU), op_col = table_col(table, M_CRIT_OP);
	size_t median = table_col(table, METRIC(ns, MEDIAN));
	size_t average = table_col(table, METRIC(ns, AVERAGE));
	size_t max = table_col(table, METRIC(ns, MAX)), batch = table_col(table, METRIC(ns, BATCH));
	const struct crit_round *round = &result->rounds[0];

	for (unsigned int i = 0; i < round->nr_cpus; i++) {
		for (int op = 0; op < CRIT_NR_OPS; op++) {
			size_t row;

			if (isnan(round->op[op].median))
				continue;
			row = table_row(table);
			value_u64(table_cell(table, row, cpu_col), round->cpus[i].cpu);
			value_str(table_cell(table, row, op_col), crit_op_names[op]);
			set(table, row, median, cpu_figure(result, i, get_median, op).mid);
			set(table, row, average, cpu_figure(result, i, get_average, op).mid);
			set(table, row, max, cpu_figure(result, i, get_max, op).high);
			set(table, row, batch, cpu_figure(result, i, get_batch, op).mid);
		}
	}
}

static void set_difference(struct table *table, size_t row, size_t first,
			   const struct crit_spread *a, const struct crit_spread *b)
{
	struct crit_difference difference;

	if (crit_differ(a, b, &difference))
		return;
	value_f64(table_cell(table, row, first), difference.value);
	value_f64(table_cell(table, row, first + 1), difference.low);
	value_f64(table_cell(table, row, first + 2), difference.high);
	value_bool(table_cell(table, row, first + 3), difference.exceeds);
}

static size_t add_difference_cols(struct table *table, bool ns, const char *key, const char *title)
{
	char low[32], high[32];
	size_t first = table_col_as(table, METRIC(ns, DIFFERENCE), key, title);

	snprintf(low, sizeof(low), "%s_low", key);
	snprintf(high, sizeof(high), "%s_high", key);
	table_col_as(table, METRIC(ns, DIFFERENCE), low, "at least");
	table_col_as(table, METRIC(ns, DIFFERENCE), high, "at most");
	table_col(table, M_CRIT_EXCEEDS);
	return first;
}

/* Both off phases together: a drift during the run widens the range. */
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
	struct table *table =
		report_table(report, "tracepoints", "cost of enabling the tracepoints");
	bool ns = in_ns(engine);
	enum metric_id id = ns ? M_CRIT_BATCH_NS : M_CRIT_MEDIAN_CYCLES;
	size_t op_col = table_col(table, M_CRIT_OP);
	size_t before = table_col_as(table, id, "off_before", "off");
	size_t on = table_col_as(table, id, "on", "on");
	size_t after = table_col_as(table, id, "off_after", "off again");
	size_t cost = add_difference_cols(table, ns, "cost", "cost");

	for (int op = 0; op < CRIT_NR_OPS; op++) {
		struct crit_spread off = both_off(trace, op),
				   enabled = crit_compared(&trace->on, op);
		size_t row = table_row(table);

		value_str(table_cell(table, row, op_col), crit_op_names[op]);
		set(table, row, before, crit_compared(&trace->off_before, op).mid);
		set(table, row, on, enabled.mid);
		set(table, row, after, crit_compared(&trace->off_after, op).mid);
		set_difference(table, row, cost, &off, &enabled);
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

static void add_against(const struct crit_engine *engine, const struct crit_result *result,
			const struct crit_baseline *baseline, struct report *report)
{
	struct table *table = report_table(report, "against", "compared with the earlier run");
	bool ns = in_ns(engine);
	enum metric_id id = ns ? M_CRIT_BATCH_NS : M_CRIT_MEDIAN_CYCLES;
	size_t op_col = table_col(table, M_CRIT_OP);
	size_t was = table_col_as(table, id, "then", "then"),
	       is = table_col_as(table, id, "now", "now");
	size_t first = add_difference_cols(table, ns, "difference", "difference");

	for (int op = 0; op < CRIT_NR_OPS; op++) {
		struct crit_spread now = crit_compared(result, op);
		size_t row = table_row(table);

		value_str(table_cell(table, row, op_col), crit_op_names[op]);
		set(table, row, was, baseline->op[op].mid);
		set(table, row, is, now.mid);
		set_difference(table, row, first, &baseline->op[op], &now);
	}
	report_note(report, "compared with %s", baseline->name);
	for (int op = 0; op < CRIT_NR_OPS; op++)
		if (baseline->op[op].rounds == 1) {
			report_note(report,
				    "the earlier run has only one round, so no spread: every "
				    "difference exceeds it");
			break;
		}
}

static void add_quality(const struct crit_engine *engine, const struct crit_result *result,
			struct report *report)
{
	double clock[CRIT_MAX_ROUNDS], call[CRIT_MAX_ROUNDS], step = NAN;
	uint64_t below = 0, hz = cycles_hz();

	for (unsigned int i = 0; i < result->nr_rounds; i++) {
		clock[i] = result->rounds[i].clock_ns;
		call[i] = result->rounds[i].call_ns;
		below += result->rounds[i].below_overhead;
	}
	if (hz)
		step = 1e9 / (double)hz;
	value_f64(report_quality(report, M_CRIT_STEP_NS), step);
	if (!in_ns(engine))
		return;
	value_f64(report_quality(report, M_CRIT_CLOCK_NS),
		  crit_spread_of(clock, result->nr_rounds).mid);
	value_f64(report_quality(report, M_CRIT_CALL_NS),
		  crit_spread_of(call, result->nr_rounds).mid);
	value_u64(report_quality(report, M_CRIT_BELOW_TOTAL), below);
	/* Not a loss: if a pair costs less than a clock step, this is about half of all samples. */
	if (report->quality->nr_cols)
		report->quality->cols[report->quality->nr_cols - 1].data_only = true;
	if (step > 1)
		report_note(report, "one step of the clock is %.3g ns", step);
}

/* The operation whose batch and single pairs are furthest apart; CRIT_NR_OPS if none has both. */
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

/* Which figure is the cost of a pair, and why the other one is not. */
static void say_believe(const struct crit_result *result, struct report *report)
{
	enum crit_op op = furthest_apart(result);

	if (op == CRIT_NR_OPS) {
		report_note(report,
			    "believe median, with care: it is of single pairs, which overlap with "
			    "the clock reads around them, so it can be too low, and it is a whole "
			    "number of clock steps; engine bpf also measures in batches");
		return;
	}
	report_note(report,
		    "believe batch for the cost of a pair (%s: batch %.3g ns, median %.3g ns): a "
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
	say_believe(result, report);
	for (int op = 0; op < CRIT_NR_OPS; op++)
		if (isnan(result->rounds[0].op[op].median))
			report_note(report, "%s: %s", crit_op_names[op],
				    op == CRIT_IRQ
					    ? "no kernel has a kfunc for it; use --engine module"
					    : "this kernel has no kfunc for it");
	for (unsigned int i = 0; i < opts->nr_percentiles && !in_ns(engine); i++)
		if (opts->percentile[i] % CRIT_PERCENT &&
		    isnan(result->rounds[0].op[CRIT_IRQ].percentile[i])) {
			report_note(report, "the loaded module is an older one: it has whole "
					    "percentiles only");
			break;
		}
	if (!result->rounds[0].nr_cpus)
		report_note(report, "the loaded module is an older one: it has no figures per CPU, "
				    "and its percentiles are of one CPU");
	if (result->rounds[0].percentile_cpu >= 0)
		report_note(report, "percentiles: new samples on CPU %d, one after another",
			    result->rounds[0].percentile_cpu);
	if (!in_ns(engine) && cpuset_count(&opts->cpus))
		report_note(report, "all online CPUs were measured at the same time; the figures "
				    "are of the chosen ones, except max avg, which the module has "
				    "of all together only");
	if (result->nr_rounds < opts->rounds)
		report_note(report, "stopped after %u of %u rounds", result->nr_rounds,
			    opts->rounds);
	if (result->nr_rounds == 1)
		report_note(report, "one round has no spread: low and high equal the figure");
}

int crit_report(const struct crit_engine *engine, const struct crit_opts *opts,
		const struct crit_result *result, const struct crit_trace *trace,
		const struct crit_baseline *baseline, struct report **ret_report)
{
	struct report *report = report_new("crit");

	if (!report)
		return -ENOMEM;
	report->time_unix_ns = clock_unix_ns();
	report->window_ns = result->window_ns;
	report_source(report, engine->ops->name);
	value_str(report_field(report, M_CRIT_ENGINE), engine->ops->name);
	value_str(report_field(report, M_CRIT_UNIT), engine->ops->unit);
	value_str(report_field(report, M_CRIT_BELIEVE),
		  furthest_apart(result) == CRIT_NR_OPS ? "median" : "batch");
	value_u64(report_field(report, M_CRIT_NR_SAMPLES), opts->nr_samples);
	value_u64(report_field(report, M_CRIT_NR_HIGHEST),
		  opts->nr_highest < opts->nr_samples ? opts->nr_highest : opts->nr_samples);
	value_bool(report_field(report, M_CRIT_DO_WORK), opts->work);
	value_u64(report_field(report, M_CRIT_ROUNDS), result->nr_rounds);
	if (result->rounds[0].percentile_cpu >= 0)
		value_u64(report_field(report, M_CRIT_PERCENTILE_CPU),
			  (uint64_t)result->rounds[0].percentile_cpu);
	add_ops(engine, opts, result, report);
	add_cpus(engine, result, report);
	if (trace)
		add_trace(engine, trace, report);
	if (baseline)
		add_against(engine, result, baseline, report);
	add_quality(engine, result, report);
	add_notes(engine, opts, result, report);
	return report_finish(report, ret_report);
}
