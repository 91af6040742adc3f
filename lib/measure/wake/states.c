/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of idle states: figures, order of events, residency and verdict per core and source. */
#include "measure/wake/report.h"

#include <math.h>
#include <stdlib.h>

#include "stats/hist.h"

/* Boundaries of the passive histogram in the report: 1 µs to 17 ms. */
#define LE_MIN_NS	1024
#define LE_MAX_NS	(1024 << 14)
#define NR_POINT_STATES 16 /* more than any driver has */

/* Where one row of the states table gets its figures from. */
struct row {
	unsigned int cpu, state;
	enum wake_source source;
	struct wake_summary summary;
	uint64_t order[3];
	double silent_ns;
	double uncertainty_ns;
};

struct cols {
	size_t cpu, index, name, source, claimed, count, min, median, mean, stddev, p99, p999,
		p9999, max, near, near_ratio, silent, order[3], usage, residency, verdict, sum, le;
};

int32_t *wake_latencies(const struct wake_worker *w, enum wake_source source, unsigned int state,
			size_t *ret_nr, struct report *report)
{
	int32_t *latency;

	*ret_nr = 0;
	if (!w->nr)
		return NULL;
	latency = malloc(w->nr * sizeof(*latency));
	if (!latency) {
		report->failed = true;
		return NULL;
	}
	for (size_t i = 0; i < w->nr; i++) {
		const struct wake_point *p = &w->points[i];

		if (p->reject == WAKE_TAKEN && p->source == source && p->state == state)
			latency[(*ret_nr)++] = p->latency_ns;
	}
	return latency;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void row_order(const struct wake_worker *w, struct row *row, struct report *report)
{
	uint32_t *silent = malloc(row->summary.count * sizeof(*silent));
	size_t nr = 0;

	if (!silent) {
		report->failed = true;
		return;
	}
	for (size_t i = 0; i < w->nr; i++) {
		const struct wake_point *p = &w->points[i];

		if (p->reject != WAKE_TAKEN || p->source != row->source || p->state != row->state)
			continue;
		row->order[p->order]++;
		silent[nr++] = p->silent_ns;
	}
	qsort(silent, nr, sizeof(*silent), compare_u32);
	row->silent_ns = silent[nr / 2];
	free(silent);
}

static void columns(struct table *t, struct cols *c)
{
	c->cpu = table_col(t, M_CPU);
	c->source = table_col(t, M_WAKE_SOURCE);
	c->index = table_col(t, M_WAKE_INDEX);
	c->name = table_col(t, M_WAKE_NAME);
	c->claimed = table_col(t, M_WAKE_CLAIMED_NS);
	c->count = table_col(t, M_WAKE_COUNT);
	c->min = table_col(t, M_WAKE_MIN_NS);
	c->median = table_col(t, M_WAKE_MEDIAN_NS);
	c->mean = table_col(t, M_WAKE_MEAN_NS);
	c->stddev = table_col(t, M_WAKE_STDDEV_NS);
	c->p99 = table_col_as(t, M_PERCENTILE_NS, "p99_ns", "p99");
	c->p999 = table_col_as(t, M_PERCENTILE_NS, "p999_ns", "p99.9");
	c->p9999 = table_col_as(t, M_PERCENTILE_NS, "p9999_ns", "p99.99");
	c->max = table_col(t, M_WAKE_MAX_NS);
	c->near = table_col(t, M_WAKE_NEAR_MAX_TOTAL);
	c->near_ratio = table_col(t, M_WAKE_NEAR_MAX_RATIO);
	c->silent = table_col(t, M_WAKE_SILENT_NS);
	c->order[WAKE_EXIT_FIRST] = table_col(t, M_WAKE_EXIT_FIRST);
	c->order[WAKE_IRQ_FIRST] = table_col(t, M_WAKE_IRQ_FIRST);
	c->order[WAKE_NO_IRQ] = table_col(t, M_WAKE_NO_IRQ);
	c->usage = table_col(t, M_WAKE_USAGE);
	c->residency = table_col(t, M_WAKE_RESIDENCY_NS);
	c->verdict = table_col(t, M_WAKE_VERDICT);
	if (*t->failed)
		return;
	t->cols[c->index].data_only = true;
	t->cols[c->near].data_only = true;
	t->cols[c->silent].data_only = true;
	for (int i = 0; i < 3; i++)
		t->cols[c->order[i]].data_only = true;
	t->cols[c->usage].data_only = true;
	t->cols[c->residency].data_only = true;
}

void wake_value_ns(struct value *value, double ns)
{
	if (isfinite(ns) && ns >= 0)
		value_u64(value, (uint64_t)llround(ns));
	else
		value_f64(value, round(ns));
}

static void fill_figures(struct table *t, size_t at, const struct cols *c,
			 const struct wake_summary *s)
{
	value_u64(table_cell(t, at, c->count), s->count);
	if (!s->count)
		return;
	wake_value_ns(table_cell(t, at, c->min), s->min_ns);
	wake_value_ns(table_cell(t, at, c->median), s->median_ns);
	wake_value_ns(table_cell(t, at, c->mean), s->mean_ns);
	wake_value_ns(table_cell(t, at, c->stddev), s->stddev_ns);
	wake_value_ns(table_cell(t, at, c->p99), s->p99_ns);
	wake_value_ns(table_cell(t, at, c->p999), s->p999_ns);
	wake_value_ns(table_cell(t, at, c->p9999), s->p9999_ns);
	wake_value_ns(table_cell(t, at, c->max), s->max_ns);
	value_u64(table_cell(t, at, c->near), s->near_max);
	value_f64(table_cell(t, at, c->near_ratio), (double)s->near_max / (double)s->count);
}

static bool fill_row(const struct wake_result *r, struct table *t, const struct cols *c,
		     const struct row *row)
{
	static const struct cpuidle_state nothing;
	const struct wake_cpu_env *env = &r->env->cpus[row->cpu];
	size_t at = table_row(t);
	enum wake_verdict verdict;
	uint64_t claimed = 0;
	bool claims = wake_env_claim(r->env, row->cpu, row->state, &claimed);

	value_u64(table_cell(t, at, c->cpu), row->cpu);
	value_str(table_cell(t, at, c->source), wake_source_name(row->source));
	value_u64(table_cell(t, at, c->index), row->state);
	value_str(table_cell(t, at, c->name), wake_env_name(r->env, row->cpu, row->state));
	if (claims)
		value_u64(table_cell(t, at, c->claimed), claimed);
	fill_figures(t, at, c, &row->summary);
	for (int i = 0; i < 3; i++)
		value_u64(table_cell(t, at, c->order[i]), row->order[i]);
	if (row->silent_ns > 0)
		wake_value_ns(table_cell(t, at, c->silent), row->silent_ns);
	if ((int)row->state < env->nr && env->counted) {
		const struct cpuidle_state *was = &env->before[row->state],
					   *is = &env->after[row->state];

		/* A core that was away in between counts from 0 again. */
		if (is->usage < was->usage || is->time_ns < was->time_ns)
			was = &nothing;
		value_u64(table_cell(t, at, c->usage), is->usage - was->usage);
		value_u64(table_cell(t, at, c->residency), is->time_ns - was->time_ns);
	}
	verdict = wake_verdict(claims, claimed, &row->summary, row->uncertainty_ns);
	value_str(table_cell(t, at, c->verdict), wake_verdict_name(verdict));
	return verdict == WAKE_EXCEEDS;
}

static bool add_point_rows(const struct wake_result *r, struct table *t, const struct cols *c,
			   const struct wake_worker *w, struct report *report)
{
	bool exceeds = false;

	for (enum wake_source source = WAKE_TIMER; source <= WAKE_NIC; source++) {
		if (!wake_has(r->opts->sources, source))
			continue;
		for (unsigned int state = 0; state < NR_POINT_STATES; state++) {
			struct row row = {.cpu = w->cpu, .state = state, .source = source};
			size_t nr;
			int32_t *latency = wake_latencies(w, source, state, &nr, report);

			if (nr) {
				wake_summarize(latency, nr, &row.summary);
				row.uncertainty_ns = wake_report_uncertainty(r, w);
				row_order(w, &row, report);
				exceeds |= fill_row(r, t, c, &row);
			}
			free(latency);
		}
	}
	return exceeds;
}

/* Cumulative counts below powers of two, which are bucket edges and therefore exact. */
static void add_edges(struct table *parent, size_t row, const struct cols *c,
		      const struct wake_hist *now, const struct wake_hist *was)
{
	struct table *le = table_nested(parent, row, c->le, "le");
	size_t col_le = table_col(le, M_BURST_LE_NS), col_count = table_col(le, M_COUNT);
	uint64_t sum = 0;

	value_u64(table_cell(parent, row, c->sum), now->sum_ns - was->sum_ns);
	for (unsigned int i = 0; i < HIST_NR && hist_high(i) <= LE_MAX_NS; i++) {
		size_t sub;

		sum += now->count[i] - was->count[i];
		if ((i + 1) % HIST_SUB || hist_high(i) < LE_MIN_NS)
			continue;
		sub = table_row(le);
		value_u64(table_cell(le, sub, col_le), hist_high(i) - 1);
		value_u64(table_cell(le, sub, col_count), sum);
	}
}

static bool add_passive_rows(const struct wake_result *r, struct table *t, const struct cols *c,
			     const struct wake_worker *w)
{
	unsigned int nr = r->probe->nr_states;
	bool exceeds = false;

	for (unsigned int state = 0; state < nr; state++) {
		const struct wake_hist *now = &r->window->hists[w->cpu * nr + state];
		const struct wake_hist *was = &r->window->hists_prev[w->cpu * nr + state];
		struct row row = {
			.cpu = w->cpu,
			/* Without a driver there is one row, and the kernel's number for it is 1. */
			.state = r->probe->one_state ? 1 : state,
			.source = WAKE_PASSIVE,
		};

		wake_summarize_hist(now, was, w->calibration.stamp.median_ns, &row.summary);
		if (!row.summary.count && !r->probe->one_state)
			continue;
		row.order[WAKE_IRQ_FIRST] = now->inside - was->inside;
		/* Copied while it was being written to: this may be one event ahead of the counts. */
		if (row.order[WAKE_IRQ_FIRST] > row.summary.count)
			row.order[WAKE_IRQ_FIRST] = row.summary.count;
		row.order[WAKE_EXIT_FIRST] = row.summary.count - row.order[WAKE_IRQ_FIRST];
		row.uncertainty_ns = wake_report_uncertainty(r, w);
		exceeds |= fill_row(r, t, c, &row);
		add_edges(t, t->nr_rows - 1, c, now, was);
	}
	return exceeds;
}

bool wake_report_states(const struct wake_result *r, struct report *report)
{
	struct table *t = report_table(report, "states", NULL);
	bool exceeds = false;
	struct cols c;

	if (!t)
		return false;
	columns(t, &c);
	if (wake_has(r->opts->sources, WAKE_PASSIVE)) {
		c.sum = table_col(t, M_SUM_NS);
		c.le = table_col(t, M_BUCKETS);
		if (report->failed)
			return false;
		t->cols[c.sum].data_only = t->cols[c.le].data_only = true;
	}
	for (unsigned int i = 0; i < r->run->nr_workers && !report->failed; i++) {
		const struct wake_worker *w = &r->run->workers[i];

		if (wake_has(r->opts->sources, WAKE_PASSIVE))
			exceeds |= add_passive_rows(r, t, &c, w);
		else
			exceeds |= add_point_rows(r, t, &c, w, report);
	}
	return exceeds;
}
