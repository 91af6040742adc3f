/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of the experiment alone: breakdown, pre-wake, and every single point. */
#include "measure/wake/report.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "stats/hist.h"
#include "sys/cycles.h"

enum stage {
	STAGE_EXIT,
	STAGE_INTERRUPT,
	STAGE_TIMER,
	STAGE_SWITCH,
	STAGE_USER,
	NR_STAGES,
};

static const char *const stage_names[] = {"exit", "interrupt", "timer", "switch", "user"};

/* From launch to that stage; false when the point has no stamp of it. */
static bool stage_of(const struct wake_point *p, enum stage stage, int32_t *ret_ns)
{
	switch (stage) {
	case STAGE_EXIT:
		*ret_ns = p->exit_ns;
		return true;
	case STAGE_INTERRUPT:
		*ret_ns = p->irq_ns;
		return p->irq_ns != INT32_MIN;
	case STAGE_TIMER:
		*ret_ns = p->expire_ns;
		return p->expire_ns != 0;
	case STAGE_SWITCH:
		*ret_ns = p->switch_ns;
		return p->switch_ns != 0;
	default:
		*ret_ns = p->user_ns;
		return p->user_ns != 0;
	}
}

struct stage_row {
	enum stage stage;
	struct wake_summary summary;
};

static int by_median(const void *a, const void *b)
{
	const struct stage_row *x = a, *y = b;

	return (x->summary.median_ns > y->summary.median_ns) -
	       (x->summary.median_ns < y->summary.median_ns);
}

/* The stages of one core and source, in the order in which the median point reached them. */
static size_t stage_rows(const struct wake_worker *w, enum wake_source source, int32_t *scratch,
			 struct stage_row *rows)
{
	size_t nr_rows = 0;

	for (enum stage stage = STAGE_EXIT; stage < NR_STAGES; stage++) {
		size_t nr = 0;

		for (size_t i = 0; i < w->nr; i++)
			if (w->points[i].reject == WAKE_TAKEN && w->points[i].source == source)
				nr += stage_of(&w->points[i], stage, &scratch[nr]);
		if (!nr)
			continue;
		rows[nr_rows].stage = stage;
		wake_summarize(scratch, nr, &rows[nr_rows++].summary);
	}
	qsort(rows, nr_rows, sizeof(*rows), by_median);
	return nr_rows;
}

void wake_report_breakdown(const struct wake_result *r, struct report *report)
{
	struct table *t = report_table(report, "breakdown", "from launch to each stage");
	size_t cpu = table_col(t, M_CPU), source_col = table_col(t, M_WAKE_SOURCE);
	size_t stage = table_col(t, M_WAKE_STAGE), count = table_col(t, M_WAKE_COUNT);
	size_t min = table_col(t, M_WAKE_MIN_NS), median = table_col(t, M_WAKE_MEDIAN_NS);
	size_t p99 = table_col_as(t, M_PERCENTILE_NS, "p99_ns", "p99");
	size_t max = table_col(t, M_WAKE_MAX_NS), step = table_col(t, M_WAKE_STEP_NS);

	for (unsigned int i = 0; i < r->run->nr_workers; i++) {
		const struct wake_worker *w = &r->run->workers[i];
		int32_t *scratch = malloc((w->nr + 1) * sizeof(*scratch));

		if (!scratch) {
			report->failed = true;
			return;
		}
		for (enum wake_source source = WAKE_TIMER; source <= WAKE_NIC; source++) {
			struct stage_row rows[NR_STAGES];
			size_t nr = stage_rows(w, source, scratch, rows);
			double before = 0.0;

			for (size_t k = 0; k < nr; k++) {
				const struct wake_summary *s = &rows[k].summary;
				size_t at = table_row(t);

				value_u64(table_cell(t, at, cpu), w->cpu);
				value_str(table_cell(t, at, source_col), wake_source_name(source));
				value_str(table_cell(t, at, stage), stage_names[rows[k].stage]);
				value_u64(table_cell(t, at, count), s->count);
				wake_value_ns(table_cell(t, at, min), s->min_ns);
				wake_value_ns(table_cell(t, at, median), s->median_ns);
				wake_value_ns(table_cell(t, at, p99), s->p99_ns);
				wake_value_ns(table_cell(t, at, max), s->max_ns);
				wake_value_ns(table_cell(t, at, step), s->median_ns - before);
				before = s->median_ns;
			}
		}
		free(scratch);
	}
}

static void prewake_row(const struct wake_result *r, struct report *report, struct table *t,
			const struct wake_worker *w, unsigned int state)
{
	struct wake_summary timer, remote;
	struct wake_prewake pre;
	int32_t *latency;
	size_t nr, at;

	latency = wake_latencies(w, WAKE_TIMER, state, &nr, report);
	wake_summarize(latency, nr, &timer);
	free(latency);
	latency = wake_latencies(w, WAKE_REMOTE, state, &nr, report);
	wake_summarize(latency, nr, &remote);
	free(latency);
	if (!timer.count || !remote.count)
		return;
	wake_prewake(&timer, &remote, wake_report_uncertainty(r, w), &pre);
	at = table_row(t);
	value_u64(table_cell(t, at, 0), w->cpu);
	value_u64(table_cell(t, at, 1), state);
	value_str(table_cell(t, at, 2), wake_env_name(r->env, w->cpu, state));
	wake_value_ns(table_cell(t, at, 3), timer.median_ns);
	wake_value_ns(table_cell(t, at, 4), remote.median_ns);
	wake_value_ns(table_cell(t, at, 5), pre.ns);
	value_f64(table_cell(t, at, 6), pre.ratio);
	value_bool(table_cell(t, at, 7), pre.significant);
}

void wake_report_prewake(const struct wake_result *r, struct report *report)
{
	static const enum metric_id cols[] = {M_CPU,
					      M_WAKE_INDEX,
					      M_WAKE_NAME,
					      M_WAKE_PRE_TIMER_NS,
					      M_WAKE_PRE_REMOTE_NS,
					      M_WAKE_PRE_NS,
					      M_WAKE_PRE_RATIO,
					      M_WAKE_PRE_REAL};
	unsigned int both = 1u << WAKE_TIMER | 1u << WAKE_REMOTE;
	struct table *t;

	if ((r->opts->sources & both) != both)
		return;
	t = report_table(report, "prewake", "how much earlier the timer wakes the core");
	for (size_t i = 0; i < sizeof(cols) / sizeof(cols[0]); i++)
		table_col(t, cols[i]);
	for (unsigned int i = 0; i < r->run->nr_workers; i++)
		for (unsigned int state = 0; state <= r->env->nr_states + 1; state++)
			prewake_row(r, report, t, &r->run->workers[i], state);
}

void wake_report_residency(const struct wake_result *r, struct report *report)
{
	double hz = (double)cycles_hz();
	struct table *t = NULL;

	for (unsigned int i = 0; i < r->run->nr_workers; i++) {
		const struct wake_worker *w = &r->run->workers[i];

		for (int k = 0; k < w->cstates.nr && hz > 0 && w->sweep_ns; k++) {
			double ns = (double)w->cstates.cycles[k] / hz * 1e9;
			size_t at;

			if (!t) {
				t = report_table(report, "residency",
						 "core states by the hardware's counters");
				table_col(t, M_CPU);
				table_col(t, M_WAKE_HW_STATE);
				table_col(t, M_WAKE_HW_NS);
				table_col(t, M_WAKE_HW_RATIO);
			}
			at = table_row(t);
			value_u64(table_cell(t, at, 0), w->cpu);
			value_str(table_cell(t, at, 1), w->cstates.name[k]);
			wake_value_ns(table_cell(t, at, 2), ns);
			value_f64(table_cell(t, at, 3), ns / (double)w->sweep_ns);
		}
	}
}

static const enum metric_id point_cols[] = {
	M_WAKE_POINT_NR,    M_CPU,
	M_WAKE_SOURCE,	    M_WAKE_LAUNCH_NS,
	M_WAKE_DISTANCE_NS, M_WAKE_POINT_SILENT_NS,
	M_WAKE_LATENCY_NS,  M_WAKE_IRQ_NS,
	M_WAKE_EXPIRE_NS,   M_WAKE_SWITCH_NS,
	M_WAKE_USER_NS,	    M_WAKE_INDEX,
	M_WAKE_NAME,	    M_WAKE_ORDER,
	M_WAKE_REJECT,
};

static void fill_point(const struct wake_result *r, struct table *t, const struct wake_worker *w,
		       const struct wake_point *p)
{
	size_t at = table_row(t);
	bool taken = p->reject == WAKE_TAKEN;

	value_u64(table_cell(t, at, 0), p - w->points);
	value_u64(table_cell(t, at, 1), w->cpu);
	value_str(table_cell(t, at, 2), wake_source_name(p->source));
	if (p->launch_ns)
		value_u64(table_cell(t, at, 3), p->launch_ns);
	value_u64(table_cell(t, at, 4), p->distance_ns);
	if (taken) {
		value_u64(table_cell(t, at, 5), p->silent_ns);
		wake_value_ns(table_cell(t, at, 6), p->latency_ns);
		value_u64(table_cell(t, at, 11), p->state);
		value_str(table_cell(t, at, 12), wake_env_name(r->env, w->cpu, p->state));
		value_str(table_cell(t, at, 13), wake_order_name(p->order));
	}
	if (p->irq_ns != INT32_MIN)
		wake_value_ns(table_cell(t, at, 7), p->irq_ns);
	if (p->expire_ns)
		value_u64(table_cell(t, at, 8), p->expire_ns);
	if (p->switch_ns)
		value_u64(table_cell(t, at, 9), p->switch_ns);
	if (p->user_ns)
		value_u64(table_cell(t, at, 10), p->user_ns);
	value_str(table_cell(t, at, 14), taken ? NULL : wake_reject_name(p->reject));
}

/* Cumulative counts at the edges of the histogram's buckets: of @only, or of all cores together. */
static void add_distribution(const struct wake_result *r, struct table *t,
			     const struct wake_worker *only, enum wake_source source)
{
	uint64_t count[HIST_NR + 1] = {0}, sum = 0, total = 0;

	for (unsigned int k = 0; k < r->run->nr_workers; k++) {
		const struct wake_worker *w = &r->run->workers[k];

		for (size_t i = 0; i < w->nr && (!only || w == only); i++)
			if (w->points[i].reject == WAKE_TAKEN && w->points[i].source == source) {
				count[hist_index(w->points[i].latency_ns)]++;
				total++;
			}
	}
	for (unsigned int i = 0; i < HIST_NR && sum < total; i++) {
		size_t at;

		/* The edge before the first bucket that holds something begins the picture. */
		sum += count[i];
		if (!sum && !count[i + 1])
			continue;
		at = table_row(t);
		if (only)
			value_u64(table_cell(t, at, 0), only->cpu);
		value_str(table_cell(t, at, 1), wake_source_name(source));
		value_u64(table_cell(t, at, 2), hist_high(i) - 1);
		value_u64(table_cell(t, at, 3), sum);
	}
}

/* By core where that can be told apart in a picture, else by source over all cores. */
static void add_distributions(const struct wake_result *r, struct report *report)
{
	struct table *t = report_table(report, "distribution", NULL);
	bool by_core =
		r->run->nr_workers <= WAKE_PLOT_CORES && __builtin_popcount(r->opts->sources) == 1;

	table_col(t, M_CPU);
	table_col(t, M_WAKE_SOURCE);
	table_col_as(t, M_BURST_LE_NS, "le_ns", "wake latency");
	table_col(t, M_COUNT);
	for (enum wake_source source = WAKE_TIMER; source <= WAKE_NIC && !report->failed;
	     source++) {
		if (!wake_has(r->opts->sources, source))
			continue;
		for (unsigned int i = 0; i < r->run->nr_workers && by_core; i++)
			add_distribution(r, t, &r->run->workers[i], source);
		if (!by_core)
			add_distribution(r, t, NULL, source);
	}
}

int wake_report_points(const struct wake_result *r, bool distribution, struct report **ret_report)
{
	struct report *report = report_new("wake.points");
	struct table *t;
	int rc;

	if (!report)
		return -ENOMEM;
	report->time_unix_ns = clock_unix_ns();
	report->window_ns = r->window_ns;
	t = report_table(report, "points", NULL);
	for (size_t i = 0; i < sizeof(point_cols) / sizeof(point_cols[0]); i++)
		table_col(t, point_cols[i]);
	for (unsigned int i = 0; i < r->run->nr_workers && !report->failed; i++)
		for (size_t p = 0; p < r->run->workers[i].nr; p++)
			fill_point(r, t, &r->run->workers[i], &r->run->workers[i].points[p]);
	if (distribution)
		add_distributions(r, report);
	rc = report_check(report);
	if (rc)
		report_free(report);
	else
		*ret_report = report;
	return rc;
}
