/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the tables of `subtick wake`: idle states, stages, pre-wake, cores. */
#include "present/wake.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/findings.h"

struct fields_row {
	struct wake_window w;
	const char *guest;
	double drift_ppb;
	uint64_t dma_ns, dma_half_ns;
};

#define WITH_NIC 1

static const struct column_spec fields[] = {
#define FIELD(id, member, ...) COLUMN(struct fields_row, id, w.member, __VA_ARGS__)
#define OPTIONAL(id, member)   FIELD(id, member, .flags = COLUMN_OPTIONAL)
	FIELD(M_WAKE_OVERHEAD_NS, overhead_ns),
	FIELD(M_WAKE_UNCERTAINTY_NS, uncertainty_ns),
	FIELD(M_WAKE_BUDGET_NS, budget_ns, .flags = COLUMN_OPTIONAL | COLUMN_EMPTY_IS_NULL),
	FIELD(M_WAKE_DRIVER, machine.idle.driver),
	FIELD(M_WAKE_GOVERNOR, machine.idle.governor, .flags = COLUMN_EMPTY_IS_NULL),
	COLUMN(struct fields_row, M_WAKE_GUEST, guest),
	FIELD(M_WAKE_HALTPOLL, machine.haltpoll, .flags = COLUMN_LATER),
	OPTIONAL(M_WAKE_FROM_NS, from_ns),
	OPTIONAL(M_WAKE_TO_NS, to_ns),
	OPTIONAL(M_WAKE_STEP_RATIO, step_ratio),
	OPTIONAL(M_WAKE_POINTS_STEP, points_per_step),
	FIELD(M_WAKE_REQUESTED, asked),
	FIELD(M_WAKE_TAKEN, taken),
	OPTIONAL(M_WAKE_REJ_BEFORE_IDLE, rejected[WAKE_REJ_BEFORE_IDLE]),
	OPTIONAL(M_WAKE_REJ_WOKEN_EARLY, rejected[WAKE_REJ_WOKEN_EARLY]),
	OPTIONAL(M_WAKE_REJ_OTHER_FIRST, rejected[WAKE_REJ_OTHER_FIRST]),
	OPTIONAL(M_WAKE_REJ_NEGATIVE, rejected[WAKE_REJ_NEGATIVE]),
	OPTIONAL(M_WAKE_REJ_ELSEWHERE, rejected[WAKE_REJ_ELSEWHERE]),
	OPTIONAL(M_WAKE_REJ_NMI, rejected[WAKE_REJ_NMI]),
	OPTIONAL(M_WAKE_REJ_LOST, rejected[WAKE_REJ_LOST]),
	OPTIONAL(M_WAKE_REJ_OTHER, not_a_timer),
	OPTIONAL(M_WAKE_REJ_ODD, odd_state),
};
static const struct table_spec fields_table = TABLE("", NULL, fields);

#define LOSS(member, key)  FIELD(M_##key##_total, member, .flags = COLUMN_LATER),
#define OF_NIC(id, member) COLUMN(struct fields_row, id, member, .when = WITH_NIC)
static const struct column_spec quality_columns[] = {
	WAKE_LOSSES(LOSS) OF_NIC(M_WAKE_PHC_HALF_NS, w.card.half_window_ns),
	OF_NIC(M_WAKE_PHC_DRIFT_PPB, drift_ppb),
	OF_NIC(M_WAKE_DMA_NS, dma_ns),
	OF_NIC(M_WAKE_DMA_HALF_NS, dma_half_ns),
};
static const struct table_spec quality_table = TABLE("quality", NULL, quality_columns);

static void add_fields(const struct wake_window *w, struct report *report)
{
	const struct virt *virt = &w->machine.virt;
	const struct wake_card *card = &w->card;
	bool dma_known = !card->software && (card->dma.nr || card->dma_given);
	struct fields_row row = {
		.w = *w,
		.guest = virt->kind != VIRT_GUEST ? NULL
			 : virt->name[0]	  ? virt->name
						  : "yes",
		.drift_ppb = round(card->drift_ppb),
		.dma_ns = dma_known ? (uint64_t)card->dma.median_ns : UINT64_MAX,
		.dma_half_ns = card->dma.nr ? (uint64_t)card->dma.half_spread_ns : UINT64_MAX,
	};

	columns_set(report, &fields_table, 0, &row);
	columns_set(report, &wake_machine_table, 0, &w->machine.machine);
	columns_set(report, &quality_table, wake_has(w->sources, WAKE_NIC) ? WITH_NIC : 0, &row);
}

struct state_row {
	struct wake_state s;
	const char *source, *verdict;
	uint64_t near_max, entered, package_slept;
	double near_max_ratio, entered_ratio;
};

#define STATE(id, member, ...)	COLUMN(struct state_row, id, member, __VA_ARGS__)
#define FIGURE(id, member, ...) STATE(id, s.summary.member, .flags = COLUMN_ROUND, __VA_ARGS__)

#define IF_PASSIVE 1

static const struct column_spec state_columns[] = {
	STATE(M_CPU, s.cpu),
	STATE(M_WAKE_SOURCE, source),
	STATE(M_WAKE_FORCED, s.forced, .flags = COLUMN_EMPTY_IS_NULL),
	STATE(M_WAKE_PREFERENCE, s.preference, .flags = COLUMN_EMPTY_IS_NULL),
	STATE(M_WAKE_INDEX, s.index, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_NAME, s.name),
	STATE(M_WAKE_CLAIMED_NS, s.claimed_ns),
	STATE(M_WAKE_COUNT, s.summary.count),
	FIGURE(M_WAKE_MIN_NS, min_ns),
	FIGURE(M_WAKE_MEDIAN_NS, median_ns),
	FIGURE(M_WAKE_MEAN_NS, mean_ns),
	FIGURE(M_WAKE_STDDEV_NS, stddev_ns),
	FIGURE(M_PERCENTILE_NS, p99_ns, .key = "p99_ns", .title = "p99"),
	FIGURE(M_PERCENTILE_NS, p999_ns, .key = "p999_ns", .title = "p99.9"),
	FIGURE(M_PERCENTILE_NS, p9999_ns, .key = "p9999_ns", .title = "p99.99"),
	FIGURE(M_WAKE_MAX_NS, max_ns),
	STATE(M_WAKE_NEAR_MAX_TOTAL, near_max, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_NEAR_MAX_RATIO, near_max_ratio),
	STATE(M_WAKE_SILENT_NS, s.silent_median_ns, .flags = COLUMN_DATA_ONLY | COLUMN_ROUND),
	STATE(M_WAKE_EXIT_FIRST, s.order[WAKE_EXIT_FIRST], .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_IRQ_FIRST, s.order[WAKE_IRQ_FIRST], .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_NO_IRQ, s.order[WAKE_NO_IRQ], .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_USAGE, s.usage, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_RESIDENCY_NS, s.residency_ns, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_ABOVE, s.above, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_BELOW, s.below, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_REFUSED, s.rejected, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_ENTERED_TOTAL, entered, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_ENTERED_RATIO, entered_ratio),
	STATE(M_WAKE_ENTERED_BY, s.entered_by, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_ENTERED_MAX_NS, s.evidence.max_ns, .flags = COLUMN_DATA_ONLY | COLUMN_ROUND),
	STATE(M_WAKE_PACKAGE_TOTAL, package_slept, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_VERDICT, verdict),
	STATE(M_SUM_NS, s.sum_ns, .when = IF_PASSIVE, .flags = COLUMN_DATA_ONLY),
	COLUMN_BUCKETS(.when = IF_PASSIVE, .flags = COLUMN_DATA_ONLY),
};
static const struct table_spec states_table = TABLE("states", NULL, state_columns);

static struct state_row state_row(const struct wake_state *s)
{
	const struct wake_summary *summary = &s->summary;
	const struct wake_evidence *e = &s->evidence;
	bool entered_known = e->entered || e->not_entered;

	return (struct state_row){
		.s = *s,
		.source = wake_source_names[s->source],
		.verdict = wake_verdict_names[s->verdict],
		.near_max = summary->count ? summary->near_max : WAKE_UNKNOWN,
		.near_max_ratio = (double)summary->near_max / (double)summary->count,
		.entered = entered_known ? e->entered : WAKE_UNKNOWN,
		.entered_ratio = entered_known ? (double)e->entered / (double)summary->count : NAN,
		.package_slept =
			e->package_slept || e->package_awake ? e->package_slept : WAKE_UNKNOWN,
	};
}

/* Text output hides the columns for entered, forced and preferred idle states without values. */
static void hide_unused(const struct wake_window *w, struct table *t)
{
	bool known = false;

	array_for_each(s, w->states, w->nr_states)
		known |= s->evidence.entered || s->evidence.not_entered;
	t->cols[table_metric(t, M_WAKE_ENTERED_RATIO)].data_only = !known;
	t->cols[table_metric(t, M_WAKE_FORCED)].data_only = w->nr_rounds < 2 || w->by_preference;
	t->cols[table_metric(t, M_WAKE_PREFERENCE)].data_only = !w->by_preference;
}

static void add_states(const struct wake_window *w, struct report *report)
{
	bool passive = wake_has(w->sources, WAKE_PASSIVE);
	struct table *t = columns_table(report, &states_table, passive ? IF_PASSIVE : 0);
	struct bucket_row le[WAKE_NR_LE];

	if (!t)
		return;
	hide_unused(w, t);
	array_for_each(s, w->states, w->nr_states) {
		size_t row = columns_row(t, (struct state_row[]){state_row(s)});

		for (unsigned int k = 0; k < WAKE_NR_LE; k++)
			le[k] = (struct bucket_row){wake_le_ns(k), s->le[k]};
		columns_buckets(t, row, le, WAKE_NR_LE);
	}
}

/* Columns of the tables in the thesis (see docs/methods/wake.md), plus entered_ratio. */
static const struct column_spec total_columns[] = {
	STATE(M_WAKE_SOURCE, source),
	STATE(M_WAKE_INDEX, s.index, .flags = COLUMN_DATA_ONLY),
	STATE(M_WAKE_NAME, s.name),
	STATE(M_WAKE_CLAIMED_NS, s.claimed_ns),
	STATE(M_WAKE_COUNT, s.summary.count),
	STATE(M_WAKE_ENTERED_RATIO, entered_ratio),
	FIGURE(M_WAKE_MIN_NS, min_ns),
	FIGURE(M_PERCENTILE_NS, p25_ns, .key = "p25_ns", .title = "p25"),
	FIGURE(M_WAKE_MEDIAN_NS, median_ns),
	FIGURE(M_PERCENTILE_NS, p75_ns, .key = "p75_ns", .title = "p75"),
	FIGURE(M_WAKE_MAX_NS, max_ns),
	STATE(M_WAKE_VERDICT, verdict),
};
static const struct table_spec totals_table =
	TABLE("by_state", "wake latency of all cores together, each idle state measured alone",
	      total_columns);

static void add_totals(const struct wake_window *w, struct report *report)
{
	struct table *t = columns_table(report, &totals_table, 0);

	array_for_each(s, w->totals, w->nr_totals)
		columns_row(t, (struct state_row[]){state_row(s)});
}

struct budget_row {
	struct wake_budget b;
	const char *setting;
};

#define BUDGET(id, member, ...) COLUMN(struct budget_row, id, member, __VA_ARGS__)
static const struct column_spec budget_columns[] = {
	BUDGET(M_CPU, b.cpu),
	BUDGET(M_WAKE_BUDGET_FITS, b.fits),
	BUDGET(M_WAKE_BUDGET_NAME, b.name, .flags = COLUMN_EMPTY_IS_NULL),
	BUDGET(M_WAKE_INDEX, b.index, .flags = COLUMN_DATA_ONLY),
	BUDGET(M_PERCENTILE_NS, b.p999_ns, .key = "p999_ns", .title = "p99.9", .flags = COLUMN_ROUND),
	BUDGET(M_WAKE_BUDGET_LIMIT_NS, b.limit_ns),
	BUDGET(M_WAKE_BUDGET_DEEPER, b.deeper_ratio),
	BUDGET(M_WAKE_BUDGET_SETTING, setting),
};
static const struct table_spec budgets_table =
	TABLE("budget", "deepest idle state whose p99.9 fits the budget", budget_columns);

static void add_budgets(const struct wake_window *w, struct report *report)
{
	struct table *t = columns_table(report, &budgets_table, 0);
	char setting[96];

	array_for_each(b, w->budgets, w->nr_budgets) {
		struct budget_row row = {.b = *b};

		if (b->limit_ns != WAKE_UNKNOWN) {
			wake_limit_setting(b, setting, sizeof(setting));
			row.setting = setting;
		}
		columns_row(t, &row);
	}
}

static const struct column_spec stage_columns[] = {
#define STAGE(id, member, ...) \
	COLUMN(struct wake_stage, id, member, .flags = COLUMN_ROUND, __VA_ARGS__)
	STAGE(M_CPU, cpu),
	STAGE(M_WAKE_SOURCE, source),
	STAGE(M_WAKE_STAGE, name),
	STAGE(M_WAKE_COUNT, summary.count),
	STAGE(M_WAKE_MIN_NS, summary.min_ns),
	STAGE(M_WAKE_MEDIAN_NS, summary.median_ns),
	STAGE(M_PERCENTILE_NS, summary.p99_ns, .key = "p99_ns", .title = "p99"),
	STAGE(M_WAKE_MAX_NS, summary.max_ns),
	STAGE(M_WAKE_STEP_NS, step_ns),
};
static const struct table_spec stages_table =
	TABLE("breakdown", "time from the launch of a wake-up to each stage", stage_columns);

static const struct column_spec pair_columns[] = {
	COLUMN(struct wake_pair, M_CPU, cpu),
	COLUMN(struct wake_pair, M_WAKE_INDEX, index),
	COLUMN(struct wake_pair, M_WAKE_NAME, name),
	COLUMN(struct wake_pair, M_WAKE_PRE_TIMER_NS, timer_median_ns, .flags = COLUMN_ROUND),
	COLUMN(struct wake_pair, M_WAKE_PRE_REMOTE_NS, remote_median_ns, .flags = COLUMN_ROUND),
	COLUMN(struct wake_pair, M_WAKE_PRE_NS, prewake.ns, .flags = COLUMN_ROUND),
	COLUMN(struct wake_pair, M_WAKE_PRE_RATIO, prewake.ratio),
	COLUMN(struct wake_pair, M_WAKE_PRE_REAL, prewake.significant),
};

static const struct column_spec residency_columns[] = {
	COLUMN(struct wake_residency, M_CPU, cpu),
	COLUMN(struct wake_residency, M_WAKE_HW_STATE, name),
	COLUMN(struct wake_residency, M_WAKE_HW_NS, ns, .flags = COLUMN_ROUND),
	COLUMN(struct wake_residency, M_WAKE_HW_RATIO, ratio),
};

static const struct column_spec cpu_columns[] = {
	COLUMN(struct wake_cpu, M_CPU, cpu),
	COLUMN(struct wake_cpu, M_WAKE_REQUESTED, asked),
	COLUMN(struct wake_cpu, M_WAKE_TAKEN, taken),
	COLUMN(struct wake_cpu, M_WAKE_OVERHEAD_NS, overhead_ns),
	COLUMN(struct wake_cpu, M_WAKE_UNCERTAINTY_NS, uncertainty_ns, .flags = COLUMN_ROUND),
	COLUMN(struct wake_cpu, M_WAKE_BUSY_MEDIAN_NS, busy_median_ns, .flags = COLUMN_ROUND),
	COLUMN(struct wake_cpu, M_WAKE_BUSY_MAX_NS, busy_max_ns, .flags = COLUMN_ROUND),
	COLUMN(struct wake_cpu, M_WAKE_CLOCK_READ_NS, clock_read_ns),
	COLUMN(struct wake_cpu, M_WAKE_CLOCK_STEP_NS, clock_step_ns),
};

static const struct table_spec pairs_table =
	TABLE("prewake", "how much earlier its own timer wakes a core than another core does",
	      pair_columns);
static const struct table_spec residency_table =
	TABLE("residency", "core and package states by the hardware's counters", residency_columns);
static const struct table_spec cpus_table =
	TABLE("cpus", "measured points and measuring overhead of each core", cpu_columns);

static void add_tables(const struct wake_window *w, struct report *report)
{
	if (w->budget_ns)
		add_budgets(w, report);
	if (w->nr_totals)
		add_totals(w, report);
	add_states(w, report);
	if (w->breakdown)
		columns_rows(report, &stages_table, w->stages, w->nr_stages, sizeof(*w->stages));
	if (wake_has(w->sources, WAKE_TIMER) && wake_has(w->sources, WAKE_REMOTE))
		columns_rows(report, &pairs_table, w->pairs, w->nr_pairs, sizeof(*w->pairs));
	if (w->nr_residencies)
		columns_rows(report, &residency_table, w->residencies, w->nr_residencies,
			     sizeof(*w->residencies));
	columns_rows(report, &cpus_table, w->cpus, w->nr_cpus, sizeof(*w->cpus));
}

const struct table_spec *const wake_tables[] = {
	&fields_table,	 &wake_machine_table, &states_table,  &totals_table,
	&budgets_table,	 &stages_table,	      &pairs_table,   &residency_table,
	&findings_table, &cpus_table,	      &quality_table, NULL,
};

int wake_report(const struct wake_window *w, struct report **ret_report)
{
	struct report *report;
	char sources[48] = "";
	int len = 0;

	for (enum wake_source source = WAKE_TIMER; source < WAKE_NR_SOURCES; source++)
		if (wake_has(w->sources, source))
			len += snprintf(sources + len, sizeof(sources) - len, "%s%s",
					len ? "," : "", wake_source_names[source]);
	report = report_begin("wake", w->time_unix_ns, w->window_ns, sources);
	if (!report)
		return -ENOMEM;
	add_fields(w, report);
	add_tables(w, report);
	findings_begin(report);
	wake_findings(w, report);
	wake_notes(w, report);
	return report_finish(report, ret_report);
}
