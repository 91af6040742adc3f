/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of an overview window: load, the longest waits, wake latency, findings. */
#include "present/overview.h"

#include <errno.h>

#include "base/losses.h"
#include "present/load.h"
#include "present/noise.h"
#include "present/overview_rules.h"
#include "present/runq.h"
#include "present/wake.h"
#include "report/findings.h"

/* Maximum number of cgroups in the table of waits; subtick runq shows all cgroups. */
#define RUNQ_ROWS 5
/* The note about no finding names a cgroup whose tasks use at least this many CPUs. */
#define NAMED_CPUS 0.5

struct wait_row {
	const char *cgroup;
	uint64_t count, sum_ns;
	double avg_ns, p99_ns;
	uint64_t max_ns;
};

static const struct column_spec wait_columns[] = {
	COLUMN(struct wait_row, M_CGROUP, cgroup),
	COLUMN(struct wait_row, M_COUNT, count),
	COLUMN(struct wait_row, M_SUM_NS, sum_ns),
	COLUMN(struct wait_row, M_AVG_NS, avg_ns),
	COLUMN(struct wait_row, M_PERCENTILE_NS, p99_ns, .key = "p99_ns", .title = "p99"),
	COLUMN(struct wait_row, M_MAX_NS, max_ns),
};
static const struct table_spec waits_table =
	TABLE("runq", "longest waits for a core", wait_columns);

const struct table_spec *const overview_tables[] = {
	&load_fields_table, &load_cpus_table,	   &load_all_table,    &load_cores_table,
	&load_pairs_table,  &runq_scheduler_table, &findings_table,    &load_tasks_table,
	&waits_table,	    &load_quality_table,   &load_losses_table, NULL,
};

static void add_runq_rows(struct report *report, const struct runq_window *w)
{
	struct table *table = columns_table(report, &waits_table, 0);

	array_for_each(group, w->groups, w->nr_groups < RUNQ_ROWS ? w->nr_groups : RUNQ_ROWS) {
		struct wait_row row = {
			.cgroup = runq_party_path(&group->party),
			.count = group->count,
			.sum_ns = group->sum_ns,
			.avg_ns = group->avg_ns,
			.p99_ns = group->percentile_ns[0],
			.max_ns = group->max_ns,
		};

		columns_row(table, &row);
	}
}

/*
 * Adds a note if /proc/stat is right on every core and the hypervisor stole no time. Otherwise the
 * report has a finding about the core.
 */
static void note_load(struct report *report, const struct load_window *w)
{
	size_t compared = 0;

	cpuset_for_each(cpu, &w->cpus) {
		const struct load_cpu_window *shown = load_shown(w, "procstat", cpu);

		if (w->cpu[cpu].flags & LOAD_NO_FIGURE || !shown)
			continue;
		if (load_is_stolen(&w->cpu[cpu]) ||
		    load_is_wrong(shown->busy_ratio, w->cpu[cpu].busy_ratio))
			return;
		compared++;
	}
	if (compared)
		report_note(
			report,
			"in this window /proc/stat was right to within %.0f points on every core",
			LOAD_WRONG_RATIO * 100.0);
}

/*
 * Adds a note if tasks without a row in the table of tasks used at least RULE_WAITS of the window.
 * The rows of short-lived processes fill the table.
 */
static void note_tasks(struct report *report, const struct load_window *w)
{
	double ns = 0.0;

	array_for_each(task, w->tasks, w->nr_tasks)
		ns += task->pid == UINT32_MAX ? (double)task->ns : 0.0;
	if (ns >= RULE_WAITS * (double)w->window_ns)
		report_note(report,
			    "the table of tasks was full: findings lack tasks that used %.2g s of "
			    "CPU time; measure a shorter window",
			    ns / 1e9);
}

/* A median of fewer than 20 wake-ups is unreliable. */
static void note_wake(struct report *report, const struct wake_window *w)
{
	array_for_each(s, w->states, w->nr_states) {
		if (s->summary.count < 20)
			continue;
		report_note(report,
			    "CPU %u woke from %s for a timer %llu times: median %.1f us, longest "
			    "%.1f us (subtick wake --source passive)",
			    s->cpu, s->name, (unsigned long long)s->summary.count,
			    s->summary.median_ns / 1e3, s->summary.max_ns / 1e3);
	}
}

/*
 * Adds a note that the report has no finding. On a busy machine the note states how many tasks wait
 * and which tasks of the busiest cgroup use the most CPU time.
 */
static void note_no_finding(struct report *report, const struct overview_window *w)
{
	struct task_sums sums, busiest = {0};
	char rate[96] = "", names[FINDING_TEXT] = "";
	uint64_t wait_ns = 0;

	for (size_t i = 0; i < w->runq->nr_groups; i++) {
		const struct runq_party *party = &w->runq->groups[i].party;

		wait_ns += w->runq->groups[i].sum_ns;
		if (party->kind != RUNQ_PARTY_GROUP)
			continue;
		sum_tasks(w, party->group, &sums);
		if (task_sums_ns(&sums) > task_sums_ns(&busiest))
			busiest = sums;
	}
	if ((double)task_sums_ns(&busiest) >= NAMED_CPUS * (double)w->load->window_ns)
		task_sums_text(w, &busiest, names, sizeof(names));
	if (wait_ns >= report->window_ns)
		findings_rate(report, wait_ns, rate, sizeof(rate));
	report_note(
		report,
		"no finding: no task that sleeps is delayed by %.0f ms per second or more%s%s%s",
		RULE_WAITS * 1e3, rate[0] ? "; " : "", rate, names);
}

int overview_part_report(const struct overview_window *w, enum overview_part part,
			 bool all_in_load, struct report **ret_report)
{
	bool whole = w->load && w->runq && w->runq->has_blame && !all_in_load;
	struct overview_steal steal = {.lost = 1.0};
	struct report *report;

	switch (part) {
	case OVERVIEW_RUNQ:
		return runq_report(w->runq, whole ? w : NULL, ret_report);
	case OVERVIEW_WAKE:
		return wake_report(w->wake, ret_report);
	case OVERVIEW_NOISE:
		return noise_report(w->noise, whole ? w : NULL, ret_report);
	default:
		break;
	}
	if (all_in_load)
		steal = overview_steal(w);
	report = load_report_begin("load", w->load, steal.lost);
	if (!report)
		return -ENOMEM;
	if (all_in_load && w->wake)
		wake_findings(w->wake, report);
	if (all_in_load)
		overview_findings(w, &steal, report);
	return report_finish(report, ret_report);
}

int overview_report(const struct overview_window *w, struct report **ret_report)
{
	struct overview_steal steal = overview_steal(w);
	struct report *report = load_report_begin("overview", w->load, steal.lost);
	const struct table *findings;
	struct table *tasks;

	if (!report)
		return -ENOMEM;
	tasks = (struct table *)report_find(report, load_tasks_table.key);
	if (tasks)
		tasks->text_hidden = true;
	note_load(report, w->load);
	note_tasks(report, w->load);
	if (w->wake)
		note_wake(report, w->wake);
	if (w->runq) {
		add_runq_rows(report, w->runq);
		runq_report_scheduler(w->runq, report);
	} else {
		const struct err *why = &w->errs[OVERVIEW_RUNQ];

		report_note(report, "run-queue latency is unavailable: %s%s%s", why->what,
			    why->fix[0] ? "; fix: " : "", why->fix);
	}
	overview_findings(w, &steal, report);
	findings = findings_of(report);
	if (w->runq && findings && !findings->nr_rows)
		note_no_finding(report, w);
	return report_finish(report, ret_report);
}
