/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the reports of sample.h. */
#include "sample.h"

#include <string.h>

#include "present/diff.h"
#include "present/try.h"
#include "report/findings.h"
#include "report/report.h"

#define SAMPLE_TIME_NS 1700000000123456789ULL

static const enum metric_id load_shares[] = {
	M_TASK_RATIO,	   M_HARDIRQ_RATIO,   M_SOFTIRQ_ON_IDLE_RATIO, M_SOFTIRQ_ON_TASK_RATIO,
	M_KSOFTIRQD_RATIO, M_IDLE_LOOP_RATIO, M_POLL_IDLE_RATIO,       M_IDLE_RATIO,
	M_STEAL_RATIO,	   M_UNKNOWN_RATIO,
};

#define NR_SHARES (sizeof(load_shares) / sizeof(load_shares[0]))

static struct report *sample_new(const char *command, const char *source)
{
	struct report *report = report_new(command);

	report->time_unix_ns = SAMPLE_TIME_NS;
	report->window_ns = 1000123456;
	report_source(report, source);
	return report;
}

struct report *sample_load(void)
{
	static const double shares[NR_SHARES] = {0.3125,   0.021,  0.0434, 0.0077,    0.0,
						 0.004999, 0.0001, 0.6051, 1.0 / 300, 0.0};
	struct report *report = sample_new("load", "bpf");
	struct table *cpus = report_table(report, "cpus", NULL);
	size_t row;

	table_col(cpus, M_CPU);
	table_col(cpus, M_ONLINE);
	table_col(cpus, M_BUSY_RATIO);
	cpus->bar_first = cpus->nr_cols;
	for (size_t i = 0; i < NR_SHARES; i++)
		table_col(cpus, load_shares[i]);
	cpus->bar_end = cpus->nr_cols;
	cpus->cols[table_col(cpus, M_CLOSURE_ERROR_RATIO)].data_only = true;
	cpus->cols[table_col(cpus, M_CPU_WINDOW_NS)].data_only = true;
	table_col(cpus, M_FLAGS);

	row = table_row(cpus);
	value_u64(table_cell(cpus, row, 0), 0);
	value_bool(table_cell(cpus, row, 1), true);
	value_f64(table_cell(cpus, row, 2), 0.389699);
	for (size_t i = 0; i < NR_SHARES; i++)
		value_f64(table_cell(cpus, row, cpus->bar_first + i), shares[i]);
	value_f64(table_cell(cpus, row, cpus->bar_end), -3.9e-6);
	value_u64(table_cell(cpus, row, cpus->bar_end + 1), 1000123001);
	value_str(table_cell(cpus, row, cpus->bar_end + 2), "");
	row = table_row(cpus);
	value_u64(table_cell(cpus, row, 0), 1);
	value_bool(table_cell(cpus, row, 1), false);
	value_str(table_cell(cpus, row, cpus->bar_end + 2), "offline");

	value_f64(report_quality(report, M_CLOSURE_MAX_RATIO), 3.9e-6);
	value_bool(report_quality(report, M_STEAL_KNOWN), true);
	value_u64(report_quality(report, M_torn_total), 0);
	value_u64(report_quality(report, M_odd_edges_total), 2);
	value_null(report_quality(report, M_recursion_misses_total));
	report_note(report, "CPU %d was offline at the end of the window.", 1);
	return report;
}

struct report *sample_compare(void)
{
	static const struct finding_rule small = {"rule", "task", 0.01, "subtick audit"};
	static const enum metric_id cols[] = {M_CPU,	      M_BUSY_RATIO,    M_CMP_PROCSTAT,
					      M_CMP_PROCIDLE, M_CMP_SCHEDSTAT, M_CMP_TASKCLOCK,
					      M_CMP_PERF_TSC, M_CMP_PERF_CAL,  M_FLAGS};
	static const char *const vecs[] = {"TIMER", "NET_RX", "RCU"};
	struct report *report = sample_new("load", "bpf");
	struct table *cpus = report_table(report, "cpus", NULL);
	struct table *softirqs = report_table(report, "softirqs", "softirqs by vector");
	struct table *bursts = report_table(report, "bursts", "length of busy bursts");

	for (size_t i = 0; i < sizeof(cols) / sizeof(cols[0]); i++)
		table_col(cpus, cols[i]);
	for (size_t cpu = 0; cpu < 2; cpu++) {
		table_row(cpus);
		value_u64(table_cell(cpus, cpu, 0), cpu);
		value_f64(table_cell(cpus, cpu, 1), cpu ? 0.62 : 0.30);
		value_f64(table_cell(cpus, cpu, 2), cpu ? 0.18 : 0.0);
		value_f64(table_cell(cpus, cpu, 3), cpu ? 0.601234567891 : 0.299);
		value_f64(table_cell(cpus, cpu, 5), cpu ? 1.0 : 0.25);
		value_str(table_cell(cpus, cpu, 8), "");
	}

	table_col(softirqs, M_CPU);
	table_col(softirqs, M_SOFTIRQ_VEC);
	table_col(softirqs, M_SOFTIRQ_RATIO);
	table_col(softirqs, M_SOFTIRQ_COUNT);
	for (size_t i = 0; i < sizeof(vecs) / sizeof(vecs[0]); i++) {
		table_row(softirqs);
		value_u64(table_cell(softirqs, i, 0), 1);
		value_str(table_cell(softirqs, i, 1), vecs[i]);
		value_f64(table_cell(softirqs, i, 2), 0.4 / (i * i * i + 1));
		value_u64(table_cell(softirqs, i, 3), 12345 * i);
	}

	bursts->text_hidden = true;
	table_col(bursts, M_BURST_LE_NS);
	table_col(bursts, M_COUNT);
	for (size_t i = 0; i < 4; i++) {
		table_row(bursts);
		if (i < 3)
			value_u64(table_cell(bursts, i, 0), 1024ULL << (i * 10));
		value_u64(table_cell(bursts, i, 1), i ? 10 * i + 1 : 0);
	}
	findings_begin(report);
	findings_add(report, FINDING(&small, 20000000), "\033[31mhostile\033[0m name <b>");
	findings_add(report, FINDING(&small, 300000000), "CPU 0 is 30.0 %% busy; /proc/stat shows 0.0 %%");
	findings_add(report, FINDING(&small, 1), "too little time to be said");
	value_u64(report_quality(report, M_torn_total), 0);
	return report;
}

struct report *sample_doctor(void)
{
	static const char *const checks[][4] = {
		{"BTF", "ok", "type information of the running kernel is there", NULL},
		{"PMU", "no",
		 "no cycle counter: this guest was given no PMU, so unhalted cycles cannot be "
		 "counted and source perf is unavailable",
		 "start the guest with a virtual PMU (-cpu host,pmu=on)"},
		{"schedstat", "warn", "/proc/schedstat is off",
		 "sysctl -w kernel.sched_schedstats=1"},
	};
	struct report *report = sample_new("doctor", NULL);
	struct table *table = report_table(report, "checks", NULL);
	struct table *commands = report_table(report, "commands", "what works here");

	report->window_ns = 0;
	table_col(table, M_CHECK);
	table_col(table, M_STATUS);
	table_col(table, M_DETAIL);
	table_col(table, M_FIX);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		table_row(table);
		for (size_t j = 0; j < 4; j++)
			value_str(table_cell(table, i, j), checks[i][j]);
	}
	table_col(commands, M_COMMAND);
	table_col(commands, M_STATUS);
	table_row(commands);
	value_str(table_cell(commands, 0, 0), "load");
	value_str(table_cell(commands, 0, 1), "part");
	return report;
}

static void sample_group(struct table *groups, const char *name, uint64_t id, uint64_t count,
			 uint64_t unit_ns)
{
	size_t row = table_row(groups);
	struct table *le;

	value_str(table_cell(groups, row, 0), name);
	value_u64(table_cell(groups, row, 1), id);
	value_u64(table_cell(groups, row, 2), count);
	if (count) {
		value_f64(table_cell(groups, row, 3), unit_ns * 1.5);
		value_u64(table_cell(groups, row, 4), unit_ns * 4);
		value_f64(table_cell(groups, row, 5), unit_ns * 3.3333);
	}
	le = table_nested(groups, row, 6, "le");
	table_col(le, M_BURST_LE_NS);
	table_col(le, M_COUNT);
	for (size_t i = 0; i < 6; i++) {
		table_row(le);
		value_u64(table_cell(le, i, 0), unit_ns << i);
		value_u64(table_cell(le, i, 1), i < 4 ? count * i * i / 9 : count);
	}
}

struct report *sample_runq(void)
{
	struct report *report = sample_new("runq", "bpf");
	struct table *groups = report_table(report, "groups", "wait for a core by cgroup");
	struct table *blame = report_table(report, "blame", "who made them wait");

	table_col_as(groups, M_CHECK, "cgroup", "cgroup");
	table_col_as(groups, M_CPU, "cgroup_id", "id");
	table_col(groups, M_COUNT);
	table_col(groups, M_AVG_NS);
	table_col(groups, M_MAX_NS);
	table_col_as(groups, M_PERCENTILE_NS, "p99_ns", "p99");
	table_col(groups, M_BUCKETS);
	groups->cols[1].data_only = true;
	sample_group(groups, "/system.slice/system-getty\\x2dgenerator.slice", 4711, 1234567, 900);
	sample_group(groups, "/esc\033[2J\033]0;owned\007\r\n", UINT64_MAX, 90, 1000000);
	sample_group(groups, "/bad\xff\xfe\xc0\xaf\xed\xa0\x80 utf8", 3, 9, 77);
	sample_group(groups, "/quo\"te,comma;semi", 4, 9, 123456789);
	sample_group(groups,
		     "/rtl\xe2\x80\xae"
		     "c1\xc2\x9b"
		     "31m",
		     5, 0, 1000);
	sample_group(groups, "/größe/日本語/e\xcc\x81", 6, 9, 1500);
	sample_group(groups, "", 7, 9, 1500);

	table_col_as(blame, M_CHECK, "victim", "victim");
	table_col_as(blame, M_CHECK, "culprit", "culprit");
	table_col_as(blame, M_SUM_NS, "wait_ns", "waited");
	report_note(report, "%s", "A note with \033[31mcolour\033[0m and \xff in it.");
	return report;
}

struct report *sample_edges(void)
{
	struct report *report = sample_new("edges", "none, \"of\" them");

	report->time_unix_ns = UINT64_MAX;
	report->window_ns = UINT64_MAX;
	value_u64(report_field(report, M_SUM_NS), UINT64_MAX);
	value_u64(report_field(report, M_MAX_NS), INT64_MAX);
	value_f64(report_field(report, M_AVG_NS), -1234.5);
	value_f64(report_field(report, M_MIN_NS), 0.1 + 0.2);
	value_u64(report_field(report, M_CPU), UINT64_MAX);
	value_str(report_field(report, M_FLAGS), "\001");
	value_f64(report_field(report, M_CMP_PROCSTAT), 1e-12);
	value_f64(report_field(report, M_CMP_BPF), -0.0);
	value_f64(report_quality(report, M_CLOSURE_MAX_RATIO), 0.00312);
	value_u64(report_quality(report, M_torn_total), UINT64_MAX);
	return report;
}

#define TRY_PAIRS 8

/*
 * Simulated figure of a round: @base, or @factor times @base in rounds with the changed setting,
 * with random noise.
 */
static void try_figure(struct try_group *group, enum try_figure figure, double base, double factor)
{
	for (int i = 0; i < 2 * TRY_PAIRS; i++)
		group->value[figure][i / 2][i % 2] =
			base * (i % 2 ? factor : 1.0) * (1.0 + 0.01 * (i * 7 % 5));
}

struct report *sample_try(void)
{
	static struct try_setting setting = {
		.name = "/batch/cpu.weight", .was = "100", .now = "50"};
	static struct try_group groups[2];
	static char app[] = "/app", batch[] = "/batch";
	struct try_blame blame = {.victim = app, .culprit = batch, .wait_ns = {3200000000, 1200000000}};
	struct try_opts opts = {.settings = &setting, .nr_settings = 1, .rounds = TRY_PAIRS,
				.each_ns = 1000000000, .settle_ns = 100000000, .seed = 7};
	struct runq_window runq = {.source = RUNQ_SOURCE_SCHED_INFO,
				   .causes_known = ~(1u << RUNQ_THROTTLED),
				   .sample_ratio = 1.0,
				   .schedstat_ratio = 1.0,
				   .missing_from_run_delay_ratio = 0.0001};
	struct try_window w = {
		.time_unix_ns = 1700000000000000000,
		.window_ns = 17600000000,
		.groups = {.usage_mount = "/sys/fs/cgroup", .groups = groups, .nr = 2,
			   .nr_watched = 1, .blame = &blame, .nr_blame = 1},
		.nr_pairs = TRY_PAIRS,
		.first = {TRY_CHANGED, TRY_ORIGINAL},
		.restored = true,
		.runq = &runq,
	};
	struct report *report;

	memset(groups, 0, sizeof(groups));
	groups[0] = (struct try_group){
		.path = app,
		.watched = true,
		.cause_ns = {{[RUNQ_OTHER] = 3200000000, [RUNQ_IDLE] = 1000},
			     {[RUNQ_OTHER] = 1200000000, [RUNQ_IDLE] = 2000}}};
	groups[1] = (struct try_group){.path = batch};
	for (int i = 0; i < TRY_PAIRS; i++)
		groups[0].count[i][0] = groups[0].count[i][1] = 400;
	try_figure(&groups[0], TRY_WAIT, 1e6, 0.39);
	try_figure(&groups[0], TRY_P99, 14e6, 0.36);
	try_figure(&groups[0], TRY_CPU, 3e8, 1.0);
	try_figure(&groups[1], TRY_CPU, 6e8, 0.9);
	try_groups_compare(&w.groups, TRY_PAIRS);
	return try_report(&opts, &w, &report) ? NULL : report;
}

/* Makes windows of one second and of half a second, whose rates and shares are equal. */
#define WINDOW(ns, quality, groups)                                                             \
	"{\"schema\":\"subtick.runq/1\",\"time_unix_ns\":1700000000123456789,\"window_ns\":" ns     \
	",\"source\":\"sched_info\",\"groups\":[" groups "],\"quality\":{\"negative_total\":" quality  \
	"},\"notes\":[]}\n"
#define GROUP(path, count, sum, p99, more)                                                      \
	"{\"cgroup\":\"" path "\",\"count\":" count ",\"sum_ns\":" sum ",\"p99_ns\":" p99 more "}"
#define CAUSE ",\"causes\":{\"preempted_ns\":1000}"

static const char diff_before[] =
	WINDOW("1000000000", "0", GROUP("/app", "1000", "20000000", "1000000", "") ","
		GROUP("/batch", "50", "400000", "9000", "") "," GROUP("/gone", "7", "70", "10", ""))
	WINDOW("500000000", "0", GROUP("/app", "510", "10500000", "1010000", "") ","
		GROUP("/batch", "27", "210000", "9500", "") "," GROUP("/gone", "3", "30", "10", ""))
	WINDOW("1000000000", "0", GROUP("/app", "990", "19000000", "990000", "") ","
		GROUP("/batch", "46", "380000", "8800", "") "," GROUP("/gone", "8", "80", "10", ""));
static const char diff_after[] =
	WINDOW("1000000000", "0", GROUP("/app", "1005", "41000000", "2000000", CAUSE) ","
		GROUP("/batch", "48", "390000", "9100", CAUSE))
	WINDOW("1000000000", "2", GROUP("/app", "995", "39000000", "2100000", CAUSE) ","
		GROUP("/batch", "52", "410000", "8900", CAUSE) "," GROUP("/new", "1", "5", "5", CAUSE))
	WINDOW("1000000000", "0", GROUP("/app", "1000", "40000000", "1950000", CAUSE) ","
		GROUP("/batch", "50", "400000", "9200", CAUSE));

static size_t windows_of(const char *text, struct report **windows)
{
	size_t left = strlen(text), used, nr = 0;
	struct err err = {0};

	for (; !report_read_json(text, left, &windows[nr], &used, &err); nr++) {
		text += used;
		left -= used;
	}
	return nr;
}

static struct report *diff_of(bool all)
{
	struct report *windows[2][3], *report = NULL;
	struct diff_side sides[2] = {
		{"before.json", windows[0], windows_of(diff_before, windows[0])},
		{"after.json", windows[1], windows_of(diff_after, windows[1])},
	};
	struct err err = {0};

	diff_report(sides, all, &report, &err);
	for (int i = 0; i < 6; i++)
		report_free(windows[i / 3][i % 3]);
	return report;
}

struct report *sample_diff(void)
{
	return diff_of(false);
}

struct report *sample_diff_all(void)
{
	return diff_of(true);
}
