/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of `subtick runq`: groups, causes, boundaries, blame, long waits, quality. */
#include "present/runq.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "report/columns.h"
#include "report/findings.h"
#include "stats/hist.h"

/* A row of the groups, but for percentiles and boundaries, whose number varies. */
struct group_row {
	uint32_t cpu, pid, tgid;
	const char *comm, *cgroup;
	uint64_t cgroup_id;
	const char *pod_uid, *container_id, *runtime;
	const char *shown, *qos, *namespace, *pod, *container, *image;
	int8_t ended;
	uint64_t count, sum_ns;
	double avg_ns;
	uint64_t max_ns;
	double count_stderr_ratio, sum_stderr_ratio;
	uint64_t cause_ns[RUNQ_NR_CAUSES];
};

static const struct column_spec cpu_cols[] = {COLUMN(struct group_row, M_CPU, cpu)};
static const struct column_spec comm_cols[] = {COLUMN(struct group_row, M_COMM, comm)};

static const struct column_spec task_cols[] = {
	COLUMN(struct group_row, M_PID, pid),
	COLUMN(struct group_row, M_TGID, tgid),
	COLUMN(struct group_row, M_COMM, comm),
};

/* Machines want all of them; people only what tells rows apart. */
static const struct column_spec cgroup_cols[] = {
	COLUMN(struct group_row, M_CGROUP, cgroup),
	COLUMN(struct group_row, M_CGROUP_ID, cgroup_id, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct group_row, M_POD_UID, pod_uid, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct group_row, M_CONTAINER_ID, container_id, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct group_row, M_RUNTIME, runtime, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct group_row, M_ENDED, ended, .flags = COLUMN_DATA_ONLY),
};

/* Where there are pods, in text they have their names instead of their paths. */
static const struct column_spec name_cols[] = {
	COLUMN(struct group_row, M_SHOWN, shown),
	COLUMN(struct group_row, M_NAMESPACE, namespace, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct group_row, M_POD, pod, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct group_row, M_CONTAINER, container, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct group_row, M_IMAGE, image, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct group_row, M_QOS, qos, .flags = COLUMN_DATA_ONLY),
};

/* Where a row is a property of pods, there is no cgroup to name. */
static const struct column_spec qos_cols[] = {COLUMN(struct group_row, M_QOS, qos)};
static const struct column_spec namespace_cols[] = {
	COLUMN(struct group_row, M_NAMESPACE, namespace)};

static const struct column_spec figure_cols[] = {
	COLUMN(struct group_row, M_COUNT, count),
	COLUMN(struct group_row, M_SUM_NS, sum_ns),
	COLUMN(struct group_row, M_AVG_NS, avg_ns),
	COLUMN(struct group_row, M_MAX_NS, max_ns),
};

static const struct column_spec stderr_cols[] = {
	COLUMN(struct group_row, M_COUNT_STDERR_RATIO, count_stderr_ratio),
	COLUMN(struct group_row, M_SUM_STDERR_RATIO, sum_stderr_ratio),
};

static const struct column_spec cause_cols[] = {
	COLUMN(struct group_row, M_CAUSE_IDLE_NS, cause_ns[RUNQ_IDLE]),
	COLUMN(struct group_row, M_CAUSE_SAME_NS, cause_ns[RUNQ_SAME]),
	COLUMN(struct group_row, M_CAUSE_OTHER_NS, cause_ns[RUNQ_OTHER]),
	COLUMN(struct group_row, M_CAUSE_KTHREAD_NS, cause_ns[RUNQ_KTHREAD]),
	COLUMN(struct group_row, M_CAUSE_PREEMPTED_NS, cause_ns[RUNQ_PREEMPTED]),
	COLUMN(struct group_row, M_CAUSE_THROTTLED_NS, cause_ns[RUNQ_THROTTLED]),
	COLUMN(struct group_row, M_CAUSE_MIGRATED_NS, cause_ns[RUNQ_MIGRATED]),
	COLUMN(struct group_row, M_CAUSE_UNKNOWN_NS, cause_ns[RUNQ_UNKNOWN]),
};

/* Where the columns of the groups are; which there are depends on what a group is. */
struct layout {
	struct {
		const struct column_spec *specs;
		size_t nr, first;
	} block[6];
	size_t nr_blocks;
	size_t percentiles, le;
	const struct table *le_like; /* the first group's boundaries */
};

static void layout_add(struct layout *layout, struct table *table, const struct column_spec *specs,
		       size_t nr)
{
	layout->block[layout->nr_blocks].specs = specs;
	layout->block[layout->nr_blocks].nr = nr;
	layout->block[layout->nr_blocks++].first = columns_add(table, specs, nr);
}

/* "p50_ns" and "p50", "p999_ns" and "p99.9". */
static size_t percentile_col(struct table *table, double percent)
{
	char title[24], key[32] = "", *at = key;

	snprintf(title, sizeof(title), "p%.9g", percent);
	for (const char *from = title; *from; from++)
		if (*from != '.')
			*at++ = *from;
	strcpy(at, "_ns");
	return table_col_as(table, M_PERCENTILE_NS, key, title);
}

/* Rows are not cgroups, but what many pods have in common. */
static bool of_pods(const struct runq_window *w)
{
	return w->sum == ROLLUP_QOS || w->sum == ROLLUP_NAMESPACE;
}

static struct table *groups_table(const struct runq_window *w, struct report *report,
				  struct layout *layout)
{
	static const char *const titles[] = {"waits for a core by cgroup",
					     "waits for a core by task",
					     "waits for a core by command", "waits by core"};
	static const char *const sums[] = {
		[ROLLUP_REQUESTED] = "waits for a core by cgroup, with all below it",
		[ROLLUP_DEPTH] = "waits for a core by cgroup, with all below it",
		[ROLLUP_POD] = "waits for a core by pod",
		[ROLLUP_NAMESPACE] = "waits for a core by namespace",
		[ROLLUP_QOS] = "waits for a core by QoS class",
	};
	struct table *table =
		report_table(report, "groups", w->sum ? sums[w->sum] : titles[w->per]);

	if (w->sum == ROLLUP_QOS)
		layout_add(layout, table, COLUMNS(qos_cols));
	else if (w->sum == ROLLUP_NAMESPACE)
		layout_add(layout, table, COLUMNS(namespace_cols));
	else if (w->per == RUNQ_PER_CPU)
		layout_add(layout, table, COLUMNS(cpu_cols));
	else if (w->per == RUNQ_PER_COMM)
		layout_add(layout, table, COLUMNS(comm_cols));
	else if (w->per == RUNQ_PER_TASK)
		layout_add(layout, table, COLUMNS(task_cols));
	if (!of_pods(w) && (w->per == RUNQ_PER_CGROUP || w->per == RUNQ_PER_TASK)) {
		size_t first = table->nr_cols;

		layout_add(layout, table, COLUMNS(cgroup_cols));
		if (w->has_names)
			layout_add(layout, table, COLUMNS(name_cols));
		if (w->has_names && first < table->nr_cols)
			table->cols[first].data_only = true;
	}
	layout_add(layout, table, COLUMNS(figure_cols));
	for (unsigned int i = 0; i < w->nr_percentiles; i++) {
		size_t col = percentile_col(table, w->percentiles[i]);

		if (!i)
			layout->percentiles = col;
	}
	if (w->sample_ratio < 1.0)
		layout_add(layout, table, COLUMNS(stderr_cols));
	if (w->has_causes) {
		table->parts_first = table->nr_cols;
		layout_add(layout, table, COLUMNS(cause_cols));
		table->parts_end = table->nr_cols;
	}
	layout->le = table_col(table, M_BUCKETS);
	return table;
}

enum {
	LE_EDGE,
	LE_COUNT,
};

/* With thousands of groups this is most of the report: one set of columns for all. */
static struct table *le_table(const struct runq_window *w, const struct runq_group_window *group,
			      struct layout *layout, struct table *parent, size_t row)
{
	bool all = w->nr_le && group->le_count[w->nr_le - 1] == group->count;
	size_t rows = w->nr_le + !all;
	struct table *le;

	if (layout->le_like)
		return table_nested_like(parent, row, layout->le, layout->le_like, rows);
	le = table_nested(parent, row, layout->le, "le");
	table_col(le, M_BURST_LE_NS);
	table_col(le, M_COUNT);
	while (rows--)
		table_row(le);
	layout->le_like = le;
	return le;
}

static void le_fill(const struct runq_window *w, const struct runq_group_window *group,
		    struct layout *layout, struct table *parent, size_t row)
{
	struct table *le = le_table(w, group, layout, parent, row);

	/* Without memory it has no rows; the report's flag says so. */
	for (unsigned int i = 0; le && i < le->nr_rows; i++) {
		struct value *cells = table_cell(le, i, LE_EDGE);
		bool last = i == w->nr_le;

		/* Above the last boundary: no edge to name. */
		if (!last)
			value_u64(&cells[LE_EDGE], w->le_ns[i]);
		value_u64(&cells[LE_COUNT], last ? group->count : group->le_count[i]);
	}
}

static void row_init(const struct runq_window *w, const struct runq_group_window *group,
		     struct group_row *row)
{
	const struct runq_group *who = group->party.group;

	*row = (struct group_row){
		.cpu = UINT32_MAX,
		.pid = UINT32_MAX,
		.tgid = UINT32_MAX,
		.cgroup = runq_party_path(&group->party),
		.cgroup_id = UINT64_MAX,
		.ended = -1,
		.count = group->count,
		.sum_ns = group->sum_ns,
		.avg_ns = group->avg_ns,
		.max_ns = group->count ? group->max_ns : UINT64_MAX,
		.count_stderr_ratio = group->count_stderr_ratio,
		.sum_stderr_ratio = group->sum_stderr_ratio,
	};
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		row->cause_ns[i] = w->causes_known >> i & 1 ? group->cause_ns[i] : UINT64_MAX;
	if (w->per == RUNQ_PER_COMM)
		row->comm = row->cgroup;
	if (w->sum == ROLLUP_QOS)
		row->qos = row->cgroup;
	if (w->sum == ROLLUP_NAMESPACE)
		row->namespace = row->cgroup;
	row->shown = row->cgroup;
	/* Neither the rest nor a cgroup that has not been seen is anything more. */
	if (group->party.kind != RUNQ_PARTY_GROUP || !who->key || of_pods(w))
		return;
	if (w->per == RUNQ_PER_TASK)
		row->comm = who->comm;
	row->cpu = who->cpu;
	row->pid = who->pid;
	row->tgid = who->tgid;
	row->cgroup_id = who->sum && !who->cgroup_id ? UINT64_MAX : who->cgroup_id;
	row->ended = group->ended;
	row->pod_uid = who->pod_uid;
	row->container_id = who->container_id;
	row->runtime = who->runtime;
	row->qos = who->qos;
	if (!who->names)
		return;
	row->namespace = who->names->namespace;
	row->pod = who->names->pod;
	row->container = who->names->container;
	row->image = who->names->image;
	if (who->names->shown)
		row->shown = who->names->shown;
}

static void add_groups(const struct runq_window *w, struct report *report)
{
	struct layout layout = {0};
	struct table *table = groups_table(w, report, &layout);

	for (size_t i = 0; i < w->nr_groups; i++) {
		const struct runq_group_window *group = &w->groups[i];
		size_t row = table_row(table);
		struct group_row from;

		row_init(w, group, &from);
		for (size_t j = 0; j < layout.nr_blocks; j++)
			columns_fill(table, row, layout.block[j].first, layout.block[j].specs,
				     layout.block[j].nr, &from);
		for (unsigned int j = 0; j < w->nr_percentiles; j++)
			value_f64(table_cell(table, row, layout.percentiles + j),
				  group->percentile_ns[j]);
		le_fill(w, group, &layout, table, row);
	}
}

struct blame_row {
	const char *victim, *culprit, *victim_name, *culprit_name;
	uint64_t wait_ns, count;
};

static const struct column_spec blame_cols[] = {
	COLUMN(struct blame_row, M_VICTIM, victim),
	COLUMN(struct blame_row, M_CULPRIT, culprit),
	COLUMN(struct blame_row, M_WAIT_NS, wait_ns),
	COLUMN(struct blame_row, M_COUNT, count),
};

/* Where pods have names, people read those; the paths are for looking up rows of the groups. */
static const struct column_spec named_blame_cols[] = {
	COLUMN(struct blame_row, M_VICTIM, victim, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct blame_row, M_CULPRIT, culprit, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct blame_row, M_VICTIM_NAME, victim_name),
	COLUMN(struct blame_row, M_CULPRIT_NAME, culprit_name),
	COLUMN(struct blame_row, M_WAIT_NS, wait_ns),
	COLUMN(struct blame_row, M_COUNT, count),
};

static void add_blame(const struct runq_window *w, struct report *report)
{
	struct table *table = report_table(report, "blame", "who had the core while they waited");
	char victim[32], culprit[32], named_victim[32], named_culprit[32];

	if (w->has_names)
		columns_add(table, COLUMNS(named_blame_cols));
	else
		columns_add(table, COLUMNS(blame_cols));
	for (size_t i = 0; i < w->nr_blame; i++) {
		const struct runq_blame *blame = &w->blame[i];
		struct blame_row row = {
			.victim = runq_party_key(w->per, &blame->victim, victim),
			.culprit = runq_party_key(w->per, &blame->culprit, culprit),
			.victim_name = runq_party_name(w->per, &blame->victim, named_victim),
			.culprit_name = runq_party_name(w->per, &blame->culprit, named_culprit),
			.wait_ns = blame->wait_ns,
			.count = blame->count,
		};

		if (w->has_names)
			columns_row(table, COLUMNS(named_blame_cols), &row);
		else
			columns_row(table, COLUMNS(blame_cols), &row);
	}
}

static const struct column_spec quality_cols[] = {
	COLUMN(struct runq_window, M_SCHEDSTAT_RATIO, schedstat_ratio),
	COLUMN(struct runq_window, M_UNBOOKED_RATIO, unbooked_ratio),
};

static const struct column_spec loss_cols[] = {
	COLUMN(struct runq_window, M_SAMPLE_RATIO, sample_ratio),
	COLUMN(struct runq_window, M_KERNEL_BYTES, kernel_bytes),
	COLUMN(struct runq_window, M_UNKNOWN_START_TOTAL, losses.unknown_start),
	COLUMN(struct runq_window, M_NEGATIVE_TOTAL, losses.negative),
	COLUMN(struct runq_window, M_TABLE_FULL_TOTAL, losses.table_full),
	COLUMN(struct runq_window, M_BLAME_FULL_TOTAL, losses.blame_full),
	COLUMN(struct runq_window, M_PATH_CUT_TOTAL, losses.path_cut),
	COLUMN(struct runq_window, M_RECURSION_MISSES_TOTAL, losses.recursion_misses),
	COLUMN(struct runq_window, M_RING_LOST_TOTAL, losses.events_lost),
};

static void add_quality(const struct runq_window *w, struct report *report)
{
	columns_quality(report, COLUMNS(quality_cols), w);
	/* Between boundaries the error is as wide as those are apart: add_notes() says so. */
	value_f64(report_quality(report, M_PERCENTILE_ERROR_RATIO),
		  w->steps_only ? NAN : 1.0 / HIST_SUB);
	columns_quality(report, COLUMNS(loss_cols), w);
}

static void add_verdict(const struct runq_window *w, struct report *report)
{
	for (size_t i = 0; i < w->nr_groups; i++)
		if (w->groups[i].exceeded)
			report_note(report, "%s: p%.9g is %.0f ns, more than %llu ns",
				    runq_party_path(&w->groups[i].party), w->limit_percent,
				    w->groups[i].judged_ns, (unsigned long long)w->limit_ns);
}

/* More than a window can hold is no error: a wait belongs to the window in which it ends. */
static void note_longer(const struct runq_window *w, struct report *report)
{
	const struct runq_group_window *longest = NULL;
	char name[32];

	for (size_t i = 0; i < w->nr_groups; i++)
		if (w->groups[i].count && w->groups[i].max_ns > w->window_ns &&
		    (!longest || w->groups[i].max_ns > longest->max_ns))
			longest = &w->groups[i];
	if (longest)
		report_note(report,
			    "the longest wait, %.3g s of %s, began before this window of %.3g s: a "
			    "wait belongs to the window in which it ends, with all of its time",
			    (double)longest->max_ns / 1e9,
			    runq_party_name(w->per, &longest->party, name),
			    (double)w->window_ns / 1e9);
}

static void add_notes(const struct runq_window *w, struct report *report)
{
	if (w->source == RUNQ_SOURCE_WAKEUP)
		report_note(report, "source wakeup: subtick's own timestamps at sched_wakeup, "
				    "sched_wakeup_new and sched_switch");
	else
		report_note(report,
			    "source sched_info: the kernel's own timestamps, read at sched_switch");
	if (w->steps_only)
		report_note(report, "percentiles are interpolated between the boundaries of le: "
				    "each can be wrong by the distance of the two around it; "
				    "with --fine within 3.2 %%");
	if (w->filtered)
		report_note(report, "waits of other cgroups are left out in the kernel, so how many there "
				    "were and the comparison with schedstat are unavailable; "
				    "--causes counts them");
	if (w->steps_only && w->sample_ratio < 1.0)
		report_note(report, "the standard error of sums is unavailable without the fine "
				    "histogram; fix: --fine");
	if (w->sum && w->has_causes)
		report_note(report, "causes are summed over cgroups: same_group is time behind tasks of the "
				    "same cgroup, other_group also behind other cgroups of the same row; "
				    "--blame tells them apart");
	if (w->sched_info_err)
		report_note(report, "source sched_info is unavailable: %s%s%s",
			    w->sched_info_err->what, w->sched_info_err->fix[0] ? "; fix: " : "",
			    w->sched_info_err->fix);
	if (w->has_causes && !(w->causes_known >> RUNQ_THROTTLED & 1))
		report_note(report, "throttled time is unsupported: %s",
			    w->per == RUNQ_PER_CGROUP
				    ? "this kernel does not keep it (CONFIG_CFS_BANDWIDTH)"
				    : "it belongs to cgroups, use --per cgroup");
	note_longer(w, report);
}

static struct report *report_begin(const struct runq_window *w, uint64_t time_unix_ns,
				   uint64_t window_ns)
{
	struct report *report = report_new("runq");

	if (!report)
		return NULL;
	report->time_unix_ns = time_unix_ns;
	report->window_ns = window_ns;
	report_source(report, runq_source_names[w->source]);
	if (w->per == RUNQ_PER_CGROUP || w->per == RUNQ_PER_TASK)
		value_str(report_field(report, M_HIERARCHY), runq_hierarchy_names[w->hierarchy]);
	return report;
}

int runq_report(const struct runq_window *w, struct report **ret_report)
{
	struct report *report = report_begin(w, w->time_unix_ns, w->window_ns);

	if (!report)
		return -ENOMEM;
	if (w->filtered)
		value_null(report_field(report, M_WAITS_SEEN));
	else
		value_u64(report_field(report, M_WAITS_SEEN), w->waits_seen);
	add_groups(w, report);
	if (w->has_blame)
		add_blame(w, report);
	add_quality(w, report);
	findings_begin(report);
	runq_findings(w, report);
	if (w->has_idle_states)
		runq_report_idle(w, report);
	if (w->has_pressure)
		runq_report_pressure(w, report);
	add_verdict(w, report);
	add_notes(w, report);
	if (w->has_idle_states)
		runq_report_advice(w, report);
	if (w->has_pressure)
		runq_report_pressure_notes(w, report);
	return report_finish(report, ret_report);
}

struct wait_row {
	struct runq_long_wait wait;
	const char *victim, *culprit;
	uint64_t culprit_ns;
};

static const struct column_spec wait_cols[] = {
	COLUMN(struct wait_row, M_CPU, wait.cpu),
	COLUMN(struct wait_row, M_WAIT_NS, wait.wait_ns),
	COLUMN(struct wait_row, M_PID, wait.pid),
	COLUMN(struct wait_row, M_TGID, wait.tgid),
	COLUMN(struct wait_row, M_COMM, wait.comm),
	COLUMN(struct wait_row, M_VICTIM, victim),
	COLUMN(struct wait_row, M_CULPRIT, culprit),
	COLUMN(struct wait_row, M_CULPRIT_NS, culprit_ns),
	COLUMN(struct wait_row, M_PREV_COMM, wait.prev_comm),
	COLUMN(struct wait_row, M_PREV_PID, wait.prev_pid),
	COLUMN(struct wait_row, M_END_NS, wait.end_ns, .flags = COLUMN_DATA_ONLY),
};

int runq_report_waits(const struct runq_window *w, struct report **ret_report)
{
	const struct runq_long_wait *waits = w->long_waits;
	char victim[32], culprit[32];
	struct report *report;
	struct table *table;

	*ret_report = NULL;
	if (!w->nr_long_waits)
		return 0;
	report = report_begin(w, clock_unix_ns(), 0);
	if (!report)
		return -ENOMEM;
	/* In text the waits scroll as one table. */
	for (size_t i = 0; i < report->fields->nr_cols; i++)
		report->fields->cols[i].data_only = true;
	table = report_table(report, "waits", NULL);
	columns_add(table, COLUMNS(wait_cols));
	for (size_t i = 0; i < w->nr_long_waits; i++) {
		bool known = waits[i].culprit_ns;
		struct wait_row row = {
			.wait = waits[i],
			.victim = runq_party_key(w->per, &waits[i].victim, victim),
			.culprit = known ? runq_party_key(w->per, &waits[i].culprit, culprit) : NULL,
			.culprit_ns = known ? waits[i].culprit_ns : UINT64_MAX,
		};

		columns_row(table, COLUMNS(wait_cols), &row);
	}
	return report_finish(report, ret_report);
}
