/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the sample reports that sample.h declares. */
#include "sample.h"

#include <stdio.h>
#include <string.h>

#include "present/diff.h"
#include "present/try.h"
#include "report/findings.h"
#include "report/report.h"

#define SAMPLE_TIME_NS 1700000000123456789ULL

static struct report *sample_new(const char *command, const char *source)
{
	return report_begin(command, SAMPLE_TIME_NS, 1000123456, source);
}

/* Reads a report of one window from JSON text with single quotes instead of double quotes. */
static struct report *sample_read(const char *quoted)
{
	struct report *report = NULL;
	char *text = strdup(quoted);
	struct err err = {0};
	size_t used;

	for (char *quote = text; (quote = strchr(quote, '\''));)
		*quote = '"';
	if (report_read_json(text, strlen(text), &report, &used, &err))
		fprintf(stderr, "%s\n", err.what);
	free(text);
	report->time_unix_ns = SAMPLE_TIME_NS;
	return report;
}

/* Sets the title of a table, because JSON has no titles. */
static struct table *titled(struct report *report, const char *key, const char *title)
{
	struct table *table = (struct table *)report_find(report, key);

	table->title = strdup(title);
	return table;
}

struct report *sample_load(void)
{
	struct report *report = sample_read(
		"{'schema':'subtick.load/1','window_ns':1000123456,'source':'bpf','cpus':["
		"{'cpu':0,'online':true,'busy_ratio':0.389699,'task_ratio':0.3125,"
		"'hardirq_ratio':0.021,'softirq_on_idle_ratio':0.0434,"
		"'softirq_on_task_ratio':0.0077,'ksoftirqd_ratio':0.0,'idle_loop_ratio':0.004999,"
		"'poll_idle_ratio':0.0001,'idle_ratio':0.6051,'steal_ratio':0.0033333333333333335,"
		"'unknown_ratio':0.0,'closure_error_ratio':-3.9e-6,'window_ns':1000123001,"
		"'flags':''},"
		"{'cpu':1,'online':false,'flags':'offline'}],"
		"'quality':{'closure_error_max_ratio':3.9e-6,'steal_known':true,'torn_total':0,"
		"'odd_edges_total':2,'recursion_misses_total':null},"
		"'notes':['CPU 1 was offline at the end of the window.']}");
	struct table *cpus = report->tables[0];

	cpus->bar_first = table_find(cpus, "task_ratio");
	cpus->bar_end = table_find(cpus, "closure_error_ratio");
	cpus->cols[cpus->bar_end].data_only = cpus->cols[cpus->bar_end + 1].data_only = true;
	return report;
}

struct report *sample_compare(void)
{
	static const struct finding_rule small = {"rule", "task", 0.01, "subtick audit"};
	struct report *report = sample_read(
		"{'schema':'subtick.load/1','window_ns':1000123456,'source':'bpf','cpus':["
		"{'cpu':0,'busy_ratio':0.3,'compare':{'procstat_busy_ratio':0.0,"
		"'procidle_busy_ratio':0.299,'schedstat_busy_ratio':null,"
		"'taskclock_busy_ratio':0.25,'perf_tsc_busy_ratio':null,"
		"'perf_calibrated_busy_ratio':null},'flags':''},"
		"{'cpu':1,'busy_ratio':0.62,'compare':{'procstat_busy_ratio':0.18,"
		"'procidle_busy_ratio':0.601234567891,'taskclock_busy_ratio':1.0},'flags':''}],"
		"'softirqs':[{'cpu':1,'vec':'TIMER','softirq_ratio':0.4,'softirq_total':0},"
		"{'cpu':1,'vec':'NET_RX','softirq_ratio':0.2,'softirq_total':12345},"
		"{'cpu':1,'vec':'RCU','softirq_ratio':0.044444444444444446,"
		"'softirq_total':24690}],"
		"'bursts':[{'le_ns':1024,'count':0},{'le_ns':1048576,'count':11},"
		"{'le_ns':1073741824,'count':21},{'le_ns':null,'count':31}]}");

	titled(report, "softirqs", "softirqs by vector");
	titled(report, "bursts", "length of busy bursts")->text_hidden = true;
	findings_begin(report);
	findings_add(report, FINDING(&small, 20000000), "\033[31mhostile\033[0m name <b>");
	findings_add(report, FINDING(&small, 300000000), "CPU 0 is 30.0 %% busy; /proc/stat shows 0.0 %%");
	findings_add(report, FINDING(&small, 1), "too little time to be said");
	value_u64(report_quality(report, M_torn_total), 0);
	return report;
}

struct report *sample_doctor(void)
{
	struct report *report = sample_read(
		"{'schema':'subtick.doctor/1','checks':["
		"{'check':'BTF','status':'ok',"
		"'detail':'type information of the running kernel is there','fix':null},"
		"{'check':'PMU','status':'no','detail':'no cycle counter: this guest was given no "
		"PMU, so unhalted cycles cannot be counted and source perf is unavailable',"
		"'fix':'start the guest with a virtual PMU (-cpu host,pmu=on)'},"
		"{'check':'schedstat','status':'warn','detail':'/proc/schedstat is off',"
		"'fix':'sysctl -w kernel.sched_schedstats=1'}],"
		"'commands':[{'command':'load','status':'part'}]}");

	titled(report, "commands", "what works here");
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
	value_f64(report_field(report, M_WAKE_MIN_NS), 0.1 + 0.2);
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
 * Simulates a figure: @base with the original setting, and @factor × @base with the changed
 * setting. Noise adds 0 to 4 %.
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

/*
 * JSON of a window of `subtick runq`. The windows of diff_before differ in length but have nearly
 * equal rates.
 */
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
