/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick audit --paper`: published figures and figures of this machine. */
#include "present/audit.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"

/* Loop iterations per delay in the paper. Times of shorter runs are scaled to LOOPS iterations. */
#define LOOPS 1e7

/*
 * Table 1 of the paper, in seconds. The paper prints two rows for 20 us. This table assigns 50 us
 * to the second row.
 */
static const struct published {
	uint64_t delay_us;
	double run, user, system;
} published[] = {
	{0, 0.62, 0.29, 0.32},	      {1, 541.05, 2.99, 17.98},	      {5, 586.24, 1.55, 18.69},
	{10, 631.19, 0.77, 21.13},    {20, 730.32, 2.31, 18.51},      {30, 831.06, 2.96, 17.46},
	{40, 927.86, 2.15, 10.88},    {50, 1036.01, 2.23, 10.8},      {60, 1128.32, 1.8, 10.81},
	{70, 1454.09, 6.07, 29.1},    {80, 1681.41, 7.16, 35.08},     {90, 1690.68, 6.15, 29.82},
	{100, 1789.82, 6.13, 29.62},  {150, 2446.33, 8.05, 38.35},    {200, 3211.62, 10.24, 48.81},
	{700, 8246.95, 10.17, 50.38}, {750, 8741.05, 10.69, 57.66},   {1000, 11329.95, 11.16, 61.4},
};

struct paper_row {
	struct audit_delay d;
	/* published times; NaN if the table of the paper has no row for the delay */
	double paper_run, paper_user, paper_system;
	double estimated, run, user, system, truth;
};

#define ROW(metric, member, ...) COLUMN(struct paper_row, metric, member, __VA_ARGS__)

#define TIME(name, heading, member, ...) \
	ROW(M_LOOPS_NS, member, .key = (name), .title = (heading), __VA_ARGS__)

static const struct column_spec paper_columns[] = {
	ROW(M_DELAY_NS, d.delay_ns),
	ROW(M_SLACK_NS, d.slack_ns),
	ROW(M_ITERATIONS_TOTAL, d.iterations, .flags = COLUMN_DATA_ONLY),
	TIME("paper_run_ns", "paper: run", paper_run),
	TIME("paper_user_ns", "user", paper_user),
	TIME("paper_system_ns", "system", paper_system),
	TIME("here_estimated_ns", "estimated", estimated, .flags = COLUMN_DATA_ONLY),
	TIME("here_run_ns", "here: run", run),
	TIME("here_user_ns", "user", user),
	TIME("here_system_ns", "system", system),
	TIME("here_true_ns", "true", truth),
};
const struct table_spec audit_paper_table =
	TABLE("table1", "table 1 of the paper, and this machine: ten million loops", paper_columns);

static void add_row(struct table *table, const struct audit_delay *delay)
{
	struct paper_row row = {
		.d = *delay,
		.paper_run = NAN,
		.paper_user = NAN,
		.paper_system = NAN,
		.estimated = (double)delay->delay_ns * LOOPS,
		.run = delay->real_each_ns * LOOPS,
		.user = delay->user_each_ns * LOOPS,
		.system = delay->system_each_ns * LOOPS,
		.truth = delay->true_each_ns * LOOPS,
	};

	/* The paper used only the kernel's default timer slack. */
	array_for_each(paper, published, ARRAY_SIZE(published))
		if (delay->slack_ns == AUDIT_DEFAULT_SLACK_NS &&
		    paper->delay_us * NSEC_PER_USEC == delay->delay_ns) {
			row.paper_run = paper->run * 1e9;
			row.paper_user = paper->user * 1e9;
			row.paper_system = paper->system * 1e9;
		}
	columns_row(table, &row);
}

struct claim_row {
	const char *claim, *paper;
	char here[128];
};

static const struct column_spec claim_columns[] = {
	COLUMN(struct claim_row, M_CLAIM, claim),
	COLUMN(struct claim_row, M_CLAIM_VALUE, paper, .key = "paper", .title = "the paper"),
	COLUMN(struct claim_row, M_CLAIM_VALUE, here, .key = "here", .title = "this machine"),
};
const struct table_spec audit_claims_table =
	TABLE("claims", "findings of the paper, and of this machine", claim_columns);

static void add_tick_claims(struct table *table, const struct audit_findings *f,
			    const struct audit_ticks *t)
{
	struct claim_row row = {"timer interrupts per second (HZ)", "1000", ""};

	if (f->tick_known)
		snprintf(row.here, sizeof(row.here), "%u, by the times of the increments", f->hz);
	else
		snprintf(row.here, sizeof(row.here), "unknown: %s",
			 f->tick_unclear ?: "the columns do not change on a tick");
	columns_row(table, &row);
	row = (struct claim_row){"figure 1: time between increments of user, system, nice",
				 "multiples of 1 ms, peak at 10 ms", ""};
	audit_ticks_peaks(&t->edges[AUDIT_SET_TWO_MODES_BUSY], row.here, sizeof(row.here));
	columns_row(table, &row);
	row = (struct claim_row){"figure 2: time between increments of all modes",
				 "multiples of 0.2 ms, not explained", ""};
	audit_ticks_peaks(&t->edges[AUDIT_SET_WITH_IDLE_ALL], row.here, sizeof(row.here));
	columns_row(table, &row);
}

static const struct audit_delay *find(const struct audit_delays *d, uint64_t delay_us,
				      uint64_t slack_ns)
{
	array_for_each(row, d->rows, d->nr)
		if (row->delay_ns == delay_us * NSEC_PER_USEC && row->slack_ns == slack_ns)
			return row;
	return NULL;
}

/*
 * Adds a row with a claim of the paper and two values of this machine, such as "57.2 us; with a
 * timer slack of 1 ns 8.36 us".
 */
static void add_pair(struct table *table, const char *claim, const char *paper, const char *unit,
		     double with_default, double with_1_ns)
{
	struct claim_row row = {claim, paper, "not measured"};

	if (!isnan(with_default) && !isnan(with_1_ns))
		snprintf(row.here, sizeof(row.here), "%.3g%s; with a timer slack of 1 ns %.3g%s",
			 with_default, unit, with_1_ns, unit);
	columns_row(table, &row);
}

static void add_delay_claims(struct table *table, const struct audit_delays *d)
{
	static const struct audit_delay none = {.real_each_ns = NAN, .user_times = NAN, .system_times = NAN};
	const struct audit_delay *one = find(d, 1, AUDIT_DEFAULT_SLACK_NS) ?: &none;
	const struct audit_delay *one_fine = find(d, 1, 1) ?: &none;
	const struct audit_delay *at90 = find(d, 90, AUDIT_DEFAULT_SLACK_NS) ?: &none;
	const struct audit_delay *at90_fine = find(d, 90, 1) ?: &none;

	add_pair(table, "figure 4: run time of a loop with a sleep of 1 us", "54.1 us", " us",
		 one->real_each_ns / 1e3, one_fine->real_each_ns / 1e3);
	add_pair(table, "figure 5: user time with a sleep of 90 us ÷ without a sleep",
		 "30 in the text; 21 by table 1", "", at90->user_times, at90_fine->user_times);
	add_pair(table, "figure 5: system time with a sleep of 90 us ÷ without a sleep",
		 "7 in the text; 93 by table 1", "", at90->system_times, at90_fine->system_times);
}

static void add_notes(const struct audit_delays *d, struct report *report)
{
	uint64_t least = UINT64_MAX, most = 0;

	array_for_each(row, d->rows, d->nr) {
		least = row->iterations < least ? row->iterations : least;
		most = row->iterations > most ? row->iterations : most;
	}
	report_note(report, "the paper: Analysis of CPU Usage Data Properties and their possible impact on "
			    "Performance Monitoring, Supercomputing Frontiers and Innovations 3(4), 2016; "
			    "its figures here are those of its table 1 and its text");
	report_note(report, "machine: %s", d->machine);
	if (d->nr && least != (uint64_t)LOOPS)
		report_note(report,
			    "ten million loops are scaled here from %llu to %llu loops per delay; "
			    "--iterations 10000000 runs all of them",
			    (unsigned long long)least, (unsigned long long)most);
	if (d->nr_slack_ignored)
		report_note(report, "the kernel ignored the timer slack of %zu delays, as it does for "
				    "real-time tasks: their rows do not repeat the paper",
			    d->nr_slack_ignored);
	if (d->nr_disturbed)
		report_note(report, "other tasks used more than %.0f points of the core during %zu delays",
			    AUDIT_OTHERS_MAX * 100.0, d->nr_disturbed);
	if (!d->complete)
		report_note(report, "%zu of %llu delays were measured", d->nr,
			    (unsigned long long)d->nr_asked);
}

int audit_paper_report(const struct audit_opts *opts, const struct audit_findings *findings,
		       const struct audit_ticks *ticks, const struct audit_delays *delays,
		       struct report **ret_report, struct err *err)
{
	struct report *report =
		audit_report("paper", opts, findings, ticks->window_ns + delays->window_ns,
			     delays->truth ?: "thread-clock");
	struct table *table;

	if (report) {
		table = columns_table(report, &audit_claims_table, 0);
		add_tick_claims(table, findings, ticks);
		add_delay_claims(table, delays);
		table = columns_table(report, &audit_paper_table, 0);
		array_for_each(delay, delays->rows, delays->nr)
			add_row(table, delay);
		add_notes(delays, report);
	}
	return audit_report_done(report, ret_report, err);
}
