/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of `subtick runq`: groups, causes, boundaries, blame, long waits, quality. */
#include "measure/runq/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "stats/hist.h"
#include "sys/cgroup_name.h"

static const enum metric_id cause_metrics[RUNQ_NR_CAUSES] = {
	[RUNQ_IDLE] = M_CAUSE_IDLE_NS,		 [RUNQ_SAME] = M_CAUSE_SAME_NS,
	[RUNQ_OTHER] = M_CAUSE_OTHER_NS,	 [RUNQ_KTHREAD] = M_CAUSE_KTHREAD_NS,
	[RUNQ_PREEMPTED] = M_CAUSE_PREEMPTED_NS, [RUNQ_THROTTLED] = M_CAUSE_THROTTLED_NS,
	[RUNQ_MIGRATED] = M_CAUSE_MIGRATED_NS,	 [RUNQ_UNKNOWN] = M_CAUSE_UNKNOWN_NS,
};

/* Where the columns of the groups begin; the rest follows in the order of group_fill(). */
struct cols {
	size_t who, figures, percentiles, causes, le;
};

const char *runq_source_name(enum runq_source source)
{
	return source == RUNQ_SOURCE_WAKEUP ? "wakeup" : "sched_info";
}

bool runq_wanted(const struct runq_result *r, const char *path)
{
	if (!r->opts->nr_cgroups)
		return true;
	for (size_t i = 0; i < r->opts->nr_cgroups; i++) {
		size_t len = strlen(r->cgroups[i]);

		if (!strcmp(path, r->cgroups[i]))
			return true;
		if (r->opts->tree && !strncmp(path, r->cgroups[i], len) &&
		    (path[len] == '/' || len == 1))
			return true;
	}
	return false;
}

static uint64_t scaled(const struct runq_result *r, uint64_t figure)
{
	return r->opts->sample_ratio > 0.0
		       ? (uint64_t)llround((double)figure / r->opts->sample_ratio)
		       : figure;
}

/* "p50_ns" and "p50", "p999_ns" and "p99.9". */
static void percentile_col(struct table *table, double percent)
{
	char title[24], key[32] = "", *at = key;

	snprintf(title, sizeof(title), "p%.9g", percent);
	for (const char *from = title; *from; from++)
		if (*from != '.')
			*at++ = *from;
	strcpy(at, "_ns");
	table_col_as(table, M_PERCENTILE_NS, key, title);
}

static void who_cols(const struct runq_result *r, struct table *table)
{
	switch (r->opts->per) {
	case RUNQ_PER_CPU:
		table_col(table, M_CPU);
		return;
	case RUNQ_PER_COMM:
		table_col(table, M_COMM);
		return;
	case RUNQ_PER_TASK:
		table_col(table, M_PID);
		table_col(table, M_TGID);
		table_col(table, M_COMM);
		break;
	default:
		break;
	}
	table_col(table, M_CGROUP);
	table_col(table, M_CGROUP_ID);
	table_col(table, M_POD_UID);
	table_col(table, M_CONTAINER_ID);
	table_col(table, M_RUNTIME);
	table_col(table, M_ENDED);
}

static struct table *groups_table(const struct runq_result *r, struct report *report,
				  struct cols *cols)
{
	static const char *const titles[] = {"waits for a core by cgroup",
					     "waits for a core by task",
					     "waits for a core by command", "waits by core"};
	struct table *table = report_table(report, "groups", titles[r->opts->per]);

	if (!table)
		return NULL;
	who_cols(r, table);
	cols->figures = table->nr_cols;
	table_col(table, M_COUNT);
	table_col(table, M_SUM_NS);
	table_col(table, M_AVG_NS);
	table_col(table, M_MAX_NS);
	cols->percentiles = table->nr_cols;
	for (unsigned int i = 0; i < r->opts->nr_percentiles; i++)
		percentile_col(table, r->opts->percentiles[i]);
	if (r->opts->sample_ratio > 0.0) {
		table_col(table, M_COUNT_STDERR_RATIO);
		table_col(table, M_SUM_STDERR_RATIO);
	}
	cols->causes = table->nr_cols;
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		table_col(table, cause_metrics[i]);
	cols->le = table_col(table, M_BUCKETS);
	if (report->failed)
		return NULL;
	/* Machines want all of them; people only what tells rows apart. */
	for (size_t i = 0; i < table->nr_cols; i++) {
		const struct metric *metric = table->cols[i].metric;

		table->cols[i].data_only =
			metric == metric_get(M_CGROUP_ID) || metric == metric_get(M_POD_UID) ||
			metric == metric_get(M_RUNTIME) || metric == metric_get(M_CONTAINER_ID) ||
			metric == metric_get(M_ENDED);
	}
	return table;
}

static void cgroup_fill(const struct runq_group *group, struct table *table, size_t row, size_t col)
{
	struct cgroup_name name;

	value_str(table_cell(table, row, col), group->path);
	if (group->key == RUNQ_KEY_OTHER)
		return;
	cgroup_name_parse(group->path, &name);
	value_u64(table_cell(table, row, col + 1), group->cgroup_id);
	value_str(table_cell(table, row, col + 2), name.pod_uid[0] ? name.pod_uid : NULL);
	value_str(table_cell(table, row, col + 3), name.container_id[0] ? name.container_id : NULL);
	value_str(table_cell(table, row, col + 4), name.runtime);
	value_bool(table_cell(table, row, col + 5), group->ended);
}

static void who_fill(const struct runq_result *r, const struct runq_group *group,
		     struct table *table, size_t row)
{
	char comm[17];

	snprintf(comm, sizeof(comm), "%.16s", group->comm);
	switch (r->opts->per) {
	case RUNQ_PER_CPU:
		if (group->key != RUNQ_KEY_OTHER)
			value_u64(table_cell(table, row, 0), group->key - 1);
		return;
	case RUNQ_PER_COMM:
		value_str(table_cell(table, row, 0), group->path);
		return;
	case RUNQ_PER_TASK:
		if (group->key != RUNQ_KEY_OTHER) {
			value_u64(table_cell(table, row, 0), group->pid);
			value_u64(table_cell(table, row, 1), group->tgid);
			value_str(table_cell(table, row, 2), comm);
		}
		cgroup_fill(group, table, row, 3);
		return;
	default:
		cgroup_fill(group, table, row, 0);
	}
}

static void le_fill(const struct runq_result *r, const struct runq_totals *totals,
		    struct table *parent, size_t row, size_t col)
{
	struct table *le = table_nested(parent, row, col, "le");
	size_t col_le = table_col(le, M_BURST_LE_NS), col_count = table_col(le, M_COUNT), sub;
	uint64_t count = runq_totals_count(totals), below = 0;

	for (unsigned int i = 0; i < r->opts->nr_le; i++) {
		below = runq_le_count(totals, r->opts->le_ns[i], i);
		sub = table_row(le);
		value_u64(table_cell(le, sub, col_le), r->opts->le_ns[i]);
		value_u64(table_cell(le, sub, col_count), scaled(r, below));
	}
	if (below == count)
		return;
	/* Above the last boundary: no edge to name. */
	sub = table_row(le);
	value_u64(table_cell(le, sub, col_count), scaled(r, count));
}

static void group_fill(const struct runq_result *r, const struct runq_group *group,
		       const struct cols *cols, struct table *table)
{
	struct runq_totals totals;
	uint64_t count, sum = group->sum_ns;
	size_t row = table_row(table), col = cols->figures;

	runq_unpack(group->waits, &totals);
	count = runq_totals_count(&totals);
	who_fill(r, group, table, row);
	value_u64(table_cell(table, row, col), scaled(r, count));
	value_u64(table_cell(table, row, col + 1), scaled(r, sum));
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		if (i != RUNQ_THROTTLED || r->held_known)
			value_u64(table_cell(table, row, cols->causes + i),
				  scaled(r, totals.cause_ns[i]));
	le_fill(r, &totals, table, row, cols->le);
	if (!count)
		return;
	value_f64(table_cell(table, row, col + 2), (double)sum / (double)count);
	value_u64(table_cell(table, row, col + 3), runq_totals_max_ns(&totals));
	col = cols->percentiles;
	for (unsigned int i = 0; i < r->opts->nr_percentiles; i++)
		value_f64(table_cell(table, row, col++),
			  fmin(hist_percentile(totals.count, r->opts->percentiles[i]),
			       (double)runq_totals_max_ns(&totals)));
	if (r->opts->sample_ratio > 0.0) {
		value_f64(table_cell(table, row, col++),
			  runq_count_stderr(&totals, r->opts->sample_ratio));
		value_f64(table_cell(table, row, col++),
			  runq_sum_stderr(&totals, r->opts->sample_ratio));
	}
}

/* A cgroup asked for by name that had no wait is a row of zeros, not a missing one. */
static void add_silent(const struct runq_result *r, const struct cols *cols, struct table *table)
{
	for (size_t i = 0; i < r->opts->nr_cgroups && r->opts->per == RUNQ_PER_CGROUP; i++) {
		struct runq_group none = {.key = RUNQ_KEY_OTHER, .path = (char *)r->cgroups[i]};
		bool seen = false;

		for (size_t j = 0; j < r->nr_groups; j++)
			seen |= !strcmp(r->groups[j]->path, r->cgroups[i]);
		if (!seen)
			group_fill(r, &none, cols, table);
	}
}

static void add_groups(const struct runq_result *r, struct report *report)
{
	struct cols cols = {0};
	struct table *table = groups_table(r, report, &cols);

	if (!table)
		return;
	for (size_t i = 0; i < r->nr_groups; i++) {
		const struct runq_group *group = r->groups[i];
		bool by_cgroup = r->opts->per == RUNQ_PER_CGROUP || r->opts->per == RUNQ_PER_TASK;

		if (!by_cgroup || group->key == RUNQ_KEY_OTHER || runq_wanted(r, group->path))
			group_fill(r, group, &cols, table);
	}
	add_silent(r, &cols, table);
}

static void key_name(const struct runq_result *r, uint64_t key, struct value *cell)
{
	static const char *const special[] = {"(idle)",	   "(kernel threads)", "(quota)",
					      "(unknown)", "(other core)",     "(other)"};
	const struct runq_group *who;
	char task[32];

	if (key >= RUNQ_KEY_OTHER) {
		value_str(cell, special[~key]);
		return;
	}
	who = runq_kernel_find(r->kernel, key);
	if (who && r->opts->per == RUNQ_PER_TASK) {
		snprintf(task, sizeof(task), "%.16s/%u", who->comm, who->pid);
		value_str(cell, task);
	} else {
		value_str(cell, who ? who->path : "(gone)");
	}
}

static void add_blame(const struct runq_result *r, struct report *report)
{
	struct table *table = report_table(report, "blame", "who had the core while they waited");
	size_t victim = table_col(table, M_VICTIM), culprit = table_col(table, M_CULPRIT);
	size_t wait = table_col(table, M_WAIT_NS), count = table_col(table, M_COUNT);

	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct runq_row *from = &r->rows[i];
		const struct runq_group *who = runq_kernel_find(r->kernel, from->pair.victim);
		size_t row;

		if (r->opts->nr_cgroups && who && !runq_wanted(r, who->path))
			continue;
		row = table_row(table);
		key_name(r, from->pair.victim, table_cell(table, row, victim));
		key_name(r, from->pair.culprit, table_cell(table, row, culprit));
		value_u64(table_cell(table, row, wait), scaled(r, from->charge.wait_ns));
		value_u64(table_cell(table, row, count), scaled(r, from->charge.count));
	}
}

static void add_quality(const struct runq_result *r, struct report *report)
{
	const struct runq_losses *now = &r->now;
	double schedstat = runq_schedstat_ratio(&r->was, now);
	double unbooked = runq_unbooked_ratio(&r->was, now);

	/* Waits on some cores only cannot be held against tasks that move among all. */
	if (isfinite(schedstat) && !cpuset_count(&r->opts->cpus))
		value_f64(report_quality(report, M_SCHEDSTAT_RATIO), schedstat);
	else
		value_null(report_quality(report, M_SCHEDSTAT_RATIO));
	if (isfinite(unbooked) && now->delay_ns)
		value_f64(report_quality(report, M_UNBOOKED_RATIO), unbooked);
	else
		value_null(report_quality(report, M_UNBOOKED_RATIO));
	value_f64(report_quality(report, M_PERCENTILE_ERROR_RATIO), 1.0 / HIST_SUB);
	value_f64(report_quality(report, M_SAMPLE_RATIO),
		  r->opts->sample_ratio > 0.0 ? r->opts->sample_ratio : 1.0);
	value_u64(report_quality(report, M_KERNEL_BYTES), runq_kernel_memory(r->kernel));
	value_u64(report_quality(report, M_UNKNOWN_START_TOTAL), now->unknown_start);
	value_u64(report_quality(report, M_NEGATIVE_TOTAL), now->negative);
	value_u64(report_quality(report, M_TABLE_FULL_TOTAL), now->table_full);
	value_u64(report_quality(report, M_BLAME_FULL_TOTAL), now->blame_full);
	value_u64(report_quality(report, M_RECURSION_MISSES_TOTAL), now->recursion_misses);
	value_u64(report_quality(report, M_RING_LOST_TOTAL), now->events_lost);
}

static void add_notes(const struct runq_result *r, struct report *report)
{
	if (r->opts->source == RUNQ_SOURCE_WAKEUP)
		report_note(report,
			    "source wakeup: own stamps at sched_wakeup, sched_wakeup_new and "
			    "sched_switch");
	else
		report_note(report,
			    "source sched_info: the kernel's own stamps, read at sched_switch");
	if (r->passed_over)
		report_note(report, "source sched_info was passed over: %s%s%s",
			    r->passed_over->what, r->passed_over->fix[0] ? "; fix: " : "",
			    r->passed_over->fix);
	if (!r->held_known)
		report_note(report, "throttled time is unsupported: %s",
			    r->opts->per == RUNQ_PER_CGROUP
				    ? "this kernel does not keep it (CONFIG_CFS_BANDWIDTH)"
				    : "it belongs to cgroups, use --per cgroup");
}

static void add_verdict(const struct runq_result *r, struct report *report)
{
	for (size_t i = 0; r->opts->fail_percent > 0.0 && i < r->nr_groups; i++) {
		const struct runq_group *group = r->groups[i];
		struct runq_totals totals;
		double value;

		if (!runq_wanted(r, group->path))
			continue;
		runq_unpack(group->waits, &totals);
		value = hist_percentile(totals.count, r->opts->fail_percent);
		if (value <= (double)r->opts->fail_ns)
			continue;
		*r->opts->ret_exceeded = true;
		report_note(report, "%s: p%.9g is %.0f ns, more than %llu ns", group->path,
			    r->opts->fail_percent, value, (unsigned long long)r->opts->fail_ns);
	}
}

static struct report *report_begin(const struct runq_result *r)
{
	struct report *report = report_new("runq");

	if (!report)
		return NULL;
	report->time_unix_ns = clock_unix_ns();
	report->window_ns = r->window_ns;
	report_source(report, runq_source_name(r->opts->source));
	if (r->opts->per == RUNQ_PER_CGROUP || r->opts->per == RUNQ_PER_TASK)
		value_str(report_field(report, M_HIERARCHY), r->hierarchy);
	return report;
}

static int report_end(struct report *report, struct report **ret_report)
{
	int rc = report_check(report);

	if (rc)
		report_free(report);
	else
		*ret_report = report;
	return rc;
}

int runq_report(const struct runq_result *r, struct report **ret_report)
{
	struct report *report = report_begin(r);

	if (!report)
		return -ENOMEM;
	value_u64(report_field(report, M_WAITS_SEEN), r->now.waits - r->was.waits);
	add_groups(r, report);
	if (r->opts->blame)
		add_blame(r, report);
	add_quality(r, report);
	add_verdict(r, report);
	add_notes(r, report);
	return report_end(report, ret_report);
}

int runq_report_events(const struct runq_result *r, const struct runq_event *events, size_t nr,
		       struct report **ret_report)
{
	static const enum metric_id metrics[] = {M_CPU,	      M_WAIT_NS,  M_PID,     M_TGID,
						 M_COMM,      M_VICTIM,	  M_CULPRIT, M_CULPRIT_NS,
						 M_PREV_COMM, M_PREV_PID, M_END_NS};
	struct report *report = report_begin(r);
	struct table *table;
	char comm[17];

	if (!report)
		return -ENOMEM;
	report->window_ns = 0;
	table = report_table(report, "waits", NULL);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		table_col(table, metrics[i]);
	for (size_t i = 0; i < nr; i++) {
		const struct runq_event *event = &events[i];
		size_t row = table_row(table);

		value_u64(table_cell(table, row, 0), event->cpu);
		value_u64(table_cell(table, row, 1), event->wait_ns);
		value_u64(table_cell(table, row, 2), event->pid);
		value_u64(table_cell(table, row, 3), event->tgid);
		snprintf(comm, sizeof(comm), "%.16s", event->comm);
		value_str(table_cell(table, row, 4), comm);
		key_name(r, event->key, table_cell(table, row, 5));
		if (event->culprit) {
			key_name(r, event->culprit, table_cell(table, row, 6));
			value_u64(table_cell(table, row, 7), event->culprit_ns);
		}
		snprintf(comm, sizeof(comm), "%.16s", event->prev_comm);
		value_str(table_cell(table, row, 8), comm);
		value_u64(table_cell(table, row, 9), event->prev_pid);
		value_u64(table_cell(table, row, 10), event->time_ns);
	}
	return report_end(report, ret_report);
}
