/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs load with all sources, runq and passive wake together, and states the findings in sentences. */
#include "measure/overview.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/load/load.h"
#include "measure/runq/report_findings.h"
#include "measure/runq/runq.h"
#include "measure/wake/wake.h"
#include "report/columns.h"
#include "report/load_wrong.h"

/* How many of the groups that waited longest are shown; subtick runq shows all. */
#define RUNQ_ROWS 5

struct overview {
	struct meter meter;
	struct meter *load;
	struct meter *runq; /* NULL: unavailable, for the reason in why_no_runq */
	struct err why_no_runq;
	struct meter *wake; /* passive; NULL: unavailable, which is not reported */
};

static struct overview *to_overview(struct meter *meter)
{
	return (struct overview *)meter;
}

static int overview_start(struct meter *meter, struct err *err)
{
	struct overview *o = to_overview(meter);
	int rc = o->load->ops->start(o->load, err);

	if (!rc && o->wake)
		rc = o->wake->ops->start(o->wake, err);
	if (!rc && o->runq)
		rc = o->runq->ops->start(o->runq, err);
	return rc;
}

/* Handles runq's events: new cgroups may need slots before the window ends. */
static int overview_event_fd(const struct meter *meter)
{
	const struct overview *o = (const struct overview *)meter;

	return o->runq ? o->runq->ops->event_fd(o->runq) : -1;
}

static int overview_event(struct meter *meter, struct report **ret_report, struct err *err)
{
	struct meter *runq = to_overview(meter)->runq;

	return runq->ops->event(runq, ret_report, err);
}

struct wait_row {
	const char *cgroup;
	uint64_t count, sum_ns;
	double avg_ns, p99_ns;
	uint64_t max_ns;
};

static void add_runq_rows(struct report *report, const struct runq_window *w)
{
	static const struct column_spec columns[] = {
		COLUMN(struct wait_row, M_CGROUP, cgroup),
		COLUMN(struct wait_row, M_COUNT, count),
		COLUMN(struct wait_row, M_SUM_NS, sum_ns),
		COLUMN(struct wait_row, M_AVG_NS, avg_ns),
		COLUMN(struct wait_row, M_PERCENTILE_NS, p99_ns, .key = "p99_ns", .title = "p99"),
		COLUMN(struct wait_row, M_MAX_NS, max_ns),
	};
	struct table *table = report_table(report, "runq", "longest waits for a core");

	columns_add(table, COLUMNS(columns));
	for (size_t i = 0; i < w->nr_groups && i < RUNQ_ROWS; i++) {
		const struct runq_group_window *group = &w->groups[i];
		struct wait_row row = {
			.cgroup = runq_party_path(&group->party),
			.count = group->count,
			.sum_ns = group->sum_ns,
			.avg_ns = group->avg_ns,
			.p99_ns = group->percentile_ns[0],
			.max_ns = group->max_ns,
		};

		columns_row(table, COLUMNS(columns), &row);
	}
}

static int add_runq(struct overview *o, struct report *report, struct err *err)
{
	int rc;

	if (!o->runq) {
		report_note(report, "run-queue latency is unavailable: %s%s%s", o->why_no_runq.what,
			    o->why_no_runq.fix[0] ? "; fix: " : "", o->why_no_runq.fix);
		return 0;
	}
	rc = o->runq->ops->read(o->runq, NULL, err);
	if (rc)
		return rc;
	add_runq_rows(report, runq_window(o->runq));
	runq_findings(runq_window(o->runq), report);
	return 0;
}

/* What is wrong is a finding; that nothing is wrong is worth a word, too. */
static void say_load(struct report *report, const struct load_window *w)
{
	size_t compared = 0;
	unsigned int cpu;

	cpuset_for_each(cpu, &w->cpus) {
		const struct load_cpu_window *shown = load_shown(w, "procstat", cpu);

		if (w->cpu[cpu].flags & LOAD_NO_FIGURE || !shown)
			continue;
		if (load_is_wrong(shown->busy_ratio, w->cpu[cpu].busy_ratio))
			return;
		compared++;
	}
	if (compared)
		report_note(
			report,
			"in this window /proc/stat was right to within %.0f points on every core",
			LOAD_WRONG_RATIO * 100.0);
}

/* Reports wake latency of a state with at least 20 wake-ups; fewer give no reliable median. */
static void say_wake(struct report *report, const struct wake_window *w)
{
	for (size_t i = 0; i < w->nr_states; i++) {
		const struct wake_state *s = &w->states[i];

		if (s->summary.count < 20)
			continue;
		report_note(report,
			    "CPU %u woke from %s for a timer %llu times: median %.1f us, longest "
			    "%.1f us (subtick wake --source passive)",
			    s->cpu, s->name, (unsigned long long)s->summary.count,
			    s->summary.median_ns / 1e3, s->summary.max_ns / 1e3);
	}
}

static int add_wake(struct overview *o, struct report *report, struct err *err)
{
	int rc = o->wake ? o->wake->ops->read(o->wake, NULL, err) : 0;

	if (o->wake && !rc)
		say_wake(report, wake_window(o->wake));
	return rc;
}

static int overview_read(struct meter *meter, struct report **ret_report, struct err *err)
{
	struct meter *load = to_overview(meter)->load;
	struct report *report;
	char *command;
	int rc;

	rc = load->ops->read(load, &report, err);
	if (rc)
		return rc;
	say_load(report, load_window(load));
	rc = add_wake(to_overview(meter), report, err);
	if (!rc)
		rc = add_runq(to_overview(meter), report, err);
	if (rc) {
		report_free(report);
		return rc;
	}
	command = strdup("overview");
	if (!command || report_check(report)) {
		free(command);
		report_free(report);
		return err_set(err, -ENOMEM, "out of memory");
	}
	free(report->command);
	report->command = command;
	*ret_report = report;
	return 0;
}

static void overview_close(struct meter *meter)
{
	struct overview *o = to_overview(meter);

	o->load->ops->close(o->load);
	if (o->wake)
		o->wake->ops->close(o->wake);
	if (o->runq)
		o->runq->ops->close(o->runq);
	free(meter);
}

static const struct meter_ops overview_ops = {
	.start = overview_start,
	.read = overview_read,
	.event_fd = overview_event_fd,
	.event = overview_event,
	.close = overview_close,
};

int overview_open(struct meter **ret_meter, struct err *err)
{
	struct load_opts opts = {.compare = true};
	struct wake_opts wake = {.sources = 1u << WAKE_PASSIVE, .bare = true};
	struct runq_opts runq = {
		.per = RUNQ_PER_CGROUP, .percentiles = {99}, .nr_percentiles = 1, .blame = true};
	struct overview *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->meter.ops = &overview_ops;
	rc = load_open(&opts, &o->load, err);
	if (rc) {
		free(o);
		return rc;
	}
	if (wake_open(&wake, &o->wake, NULL))
		o->wake = NULL;
	/* The overview also works without wake. */
	if (runq_open(&runq, &o->runq, &o->why_no_runq))
		o->runq = NULL;
	*ret_meter = &o->meter;
	return 0;
}
