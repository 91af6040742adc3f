/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick runq`: groups, causes, boundaries, blame, long waits, quality. */
#include "present/runq.h"

#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "present/overview.h"
#include "report/findings.h"

/* Row of the table of groups, without percentiles and buckets. */
struct group_row {
	const char *comm, *cgroup;
	char vm[VM_NAME];
	struct runq_group who;
	struct runq_group_names names;
	int8_t ended;
	struct runq_group_window g;
};

/* Conditions under which a table has a column (column_spec.when). */
enum {
	PER_CPU = 1 << 0,
	PER_COMM = 1 << 1,
	PER_TASK = 1 << 2,
	PER_QOS = 1 << 3,
	PER_NAMESPACE = 1 << 4,
	OF_CGROUPS = 1 << 5,
	WITH_NAMES = 1 << 6,
	WITH_STDERR = 1 << 7,
	WITH_CAUSES = 1 << 8,
	WITH_AVOIDABLE = 1 << 10,
	WITH_WAITS_SEEN = 1 << 9,
	PER_VM = 1 << 11,
	WITH_IDLE_STATES = 1 << 12,
	WITH_PRESSURE = 1 << 13,
};

#define GROUP(id, member, ...) COLUMN(struct group_row, id, member, __VA_ARGS__)
#define DATA_ONLY	       .flags = COLUMN_DATA_ONLY
#define CAUSE(id, cause)       GROUP(id, g.cause_ns[cause], .when = WITH_CAUSES),

static const struct column_spec group_columns[] = {
	/* A row that is a sum over many pods has no columns for the cgroup. */
	GROUP(M_QOS, who.qos, .when = PER_QOS),
	GROUP(M_NAMESPACE, names.namespace, .when = PER_NAMESPACE),
	GROUP(M_CPU, who.cpu, .when = PER_CPU),
	GROUP(M_PID, who.pid, .when = PER_TASK),
	GROUP(M_TGID, who.tgid, .when = PER_TASK | PER_VM),
	GROUP(M_COMM, comm, .when = PER_COMM | PER_TASK),
	GROUP(M_VM, vm, .when = PER_VM, .flags = COLUMN_DATA_ONLY | COLUMN_EMPTY_IS_NULL),
	GROUP(M_VCPU, who.vcpu, .when = PER_VM, DATA_ONLY),
	GROUP(M_CGROUP, cgroup, .when = OF_CGROUPS),
	GROUP(M_CGROUP_ID, who.cgroup_id, .when = OF_CGROUPS, DATA_ONLY),
	GROUP(M_POD_UID, who.pod_uid, .when = OF_CGROUPS, DATA_ONLY),
	GROUP(M_CONTAINER_ID, who.container_id, .when = OF_CGROUPS, DATA_ONLY),
	GROUP(M_RUNTIME, who.runtime, .when = OF_CGROUPS, DATA_ONLY),
	GROUP(M_ENDED, ended, .when = OF_CGROUPS, DATA_ONLY),
	/* The text format shows pod names instead of cgroup paths. */
	GROUP(M_SHOWN, names.shown, .when = WITH_NAMES),
	GROUP(M_NAMESPACE, names.namespace, .when = WITH_NAMES, DATA_ONLY),
	GROUP(M_POD, names.pod, .when = WITH_NAMES, DATA_ONLY),
	GROUP(M_CONTAINER, names.container, .when = WITH_NAMES, DATA_ONLY),
	GROUP(M_IMAGE, names.image, .when = WITH_NAMES, DATA_ONLY),
	GROUP(M_QOS, who.qos, .when = WITH_NAMES, DATA_ONLY),
	GROUP(M_COUNT, g.count),
	GROUP(M_SUM_NS, g.sum_ns),
	GROUP(M_AVG_NS, g.avg_ns),
	GROUP(M_MAX_NS, g.max_ns),
	COLUMN_PERCENTILES(M_PERCENTILE_NS, "pN_ns"),
	GROUP(M_COUNT_STDERR_RATIO, g.count_stderr_ratio, .when = WITH_STDERR),
	GROUP(M_SUM_STDERR_RATIO, g.sum_stderr_ratio, .when = WITH_STDERR),
	RUNQ_CAUSE_COLUMNS(CAUSE) GROUP(M_AVOIDABLE_NS, g.avoidable_ns, .when = WITH_AVOIDABLE),
	GROUP(M_AVOIDABLE_MOST_NS, g.avoidable_most_ns, .when = WITH_AVOIDABLE, DATA_ONLY),
	GROUP(M_IDLE_CPU, g.idle_cpu, .when = WITH_AVOIDABLE, DATA_ONLY),
	GROUP(M_EXCLUDED_NS, g.excluded_ns, .when = WITH_AVOIDABLE),
	GROUP(M_EXCLUDED_CPU, g.excluded_cpu, .when = WITH_AVOIDABLE, DATA_ONLY),
	COLUMN_BUCKETS(),
};

#define GROUPS(title) TABLE("groups", title, group_columns, .rank = "sum_ns")
static const struct table_spec groups_per[] = {
	GROUPS("waits for a core by cgroup"),
	GROUPS("waits for a core by task"),
	GROUPS("waits for a core by command"),
	GROUPS("waits by core"),
};
static const struct table_spec groups_sum[] = {
	[ROLLUP_REQUESTED] = GROUPS("waits for a core by cgroup, with all below it"),
	[ROLLUP_DEPTH] = GROUPS("waits for a core by cgroup, with all below it"),
	[ROLLUP_POD] = GROUPS("waits for a core by pod"),
	[ROLLUP_NAMESPACE] = GROUPS("waits for a core by namespace"),
	[ROLLUP_QOS] = GROUPS("waits for a core by QoS class"),
	[ROLLUP_VM] = GROUPS("waits for a core (CPU ready) by VM"),
	[ROLLUP_VCPU] = GROUPS("waits for a core (CPU ready) by VM and vCPU"),
	[ROLLUP_COMM] = GROUPS("waits for a core by command"),
};

static bool of_pods(const struct runq_window *w)
{
	return w->sum == ROLLUP_QOS || w->sum == ROLLUP_NAMESPACE;
}

static bool of_vms(const struct runq_window *w)
{
	return w->sum == ROLLUP_VM || w->sum == ROLLUP_VCPU;
}

static unsigned int conditions(const struct runq_window *w)
{
	static const unsigned int per[] = {
		[RUNQ_PER_CGROUP] = OF_CGROUPS,
		[RUNQ_PER_TASK] = PER_TASK | OF_CGROUPS,
		[RUNQ_PER_COMM] = PER_COMM,
		[RUNQ_PER_CPU] = PER_CPU,
	};
	unsigned int have = w->sum == ROLLUP_QOS	   ? PER_QOS
			    : w->sum == ROLLUP_NAMESPACE ? PER_NAMESPACE
			    : of_vms(w)			   ? PER_VM | OF_CGROUPS
							   : per[w->per];

	if (have & OF_CGROUPS && w->has_names)
		have |= WITH_NAMES;
	if (w->sample_ratio < 1.0)
		have |= WITH_STDERR;
	if (w->has_avoidable)
		have |= WITH_AVOIDABLE;
	return w->has_causes ? have | WITH_CAUSES : have;
}

static struct table *groups_table(const struct runq_window *w, struct report *report)
{
	unsigned int have = conditions(w);
	struct table *table =
		columns_percentiles(report, w->sum ? &groups_sum[w->sum] : &groups_per[w->per],
				    have, w->percentiles, w->nr_percentiles);

	if (table && have & WITH_NAMES)
		table->cols[table_metric(table, M_CGROUP)].data_only = true;
	if (table && have & WITH_CAUSES) {
		table->parts_first = table_metric(table, M_CAUSE_IDLE_NS);
		table->parts_end = table_metric(table, M_CAUSE_UNKNOWN_NS) + 1;
	}
	return table;
}

/*
 * Adds the number of waits up to each boundary of option le. If some waits are longer than the last
 * boundary, a last row without a boundary has the number of all waits.
 */
static void le_fill(const struct runq_window *w, const struct runq_group_window *group,
		    struct table *parent, size_t row)
{
	bool all = w->nr_le && group->le_count[w->nr_le - 1] == group->count;
	struct bucket_row buckets[RUNQ_NR_LE + 1];

	for (unsigned int i = 0; i < w->nr_le; i++)
		buckets[i] = (struct bucket_row){w->le_ns[i], group->le_count[i]};
	buckets[w->nr_le] = (struct bucket_row){UINT64_MAX, group->count};
	columns_buckets(parent, row, buckets, w->nr_le + !all);
}

static void row_init(const struct runq_window *w, const struct runq_group_window *group,
		     struct group_row *row)
{
	const struct runq_group *who = group->party.group;

	*row = (struct group_row){
		.cgroup = runq_party_path(&group->party),
		.who = {.cpu = UINT32_MAX,
			.pid = UINT32_MAX,
			.tgid = UINT32_MAX,
			.vcpu = UINT32_MAX,
			.cgroup_id = UINT64_MAX},
		.ended = -1,
		.g = *group,
	};
	if (!group->count)
		row->g.max_ns = UINT64_MAX;
	if (!group->avoidable_ns)
		row->g.idle_cpu = UINT32_MAX;
	if (!group->excluded_ns)
		row->g.excluded_cpu = UINT32_MAX;
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		if (!(w->causes_known >> i & 1))
			row->g.cause_ns[i] = UINT64_MAX;
	if (w->per == RUNQ_PER_COMM)
		row->comm = row->cgroup;
	if (w->sum == ROLLUP_QOS)
		row->who.qos = row->cgroup;
	if (w->sum == ROLLUP_NAMESPACE)
		row->names.namespace = row->cgroup;
	/*
	 * The row "(other)" and cgroups without a name have no ids and names of pods and threads.
	 */
	if (group->party.kind == RUNQ_PARTY_GROUP && who->key && !of_pods(w)) {
		row->who = *who;
		if (who->sum && !who->cgroup_id)
			row->who.cgroup_id = UINT64_MAX;
		if (w->per == RUNQ_PER_TASK)
			row->comm = who->comm;
		if (!runq_group_vm(who, row->vm) && who->sum)
			row->who.tgid = row->who.vcpu = UINT32_MAX;
		if (who->names)
			row->names = *who->names;
		row->ended = group->ended;
	}
	if (!row->names.shown)
		row->names.shown = row->cgroup;
	/* A VM has no single cgroup, because its threads can be in several cgroups. */
	if (row->vm[0])
		row->cgroup = NULL;
}

static void add_groups(const struct runq_window *w, struct report *report)
{
	struct table *table = groups_table(w, report);
	int percentiles = table_metric(table, M_PERCENTILE_NS);

	array_for_each(group, w->groups, table ? w->nr_groups : 0) {
		struct group_row from;
		size_t row;

		row_init(w, group, &from);
		row = columns_row(table, &from);
		for (unsigned int j = 0; j < w->nr_percentiles; j++)
			value_f64(table_cell(table, row, percentiles + j), group->percentile_ns[j]);
		le_fill(w, group, table, row);
	}
}

struct blame_row {
	const char *victim, *culprit, *victim_name, *culprit_name;
	struct runq_blame b;
};

static const struct column_spec blame_columns[] = {
	COLUMN(struct blame_row, M_VICTIM, victim),
	COLUMN(struct blame_row, M_CULPRIT, culprit),
	COLUMN(struct blame_row, M_VICTIM_NAME, victim_name, .when = WITH_NAMES),
	COLUMN(struct blame_row, M_CULPRIT_NAME, culprit_name, .when = WITH_NAMES),
	COLUMN(struct blame_row, M_WAIT_NS, b.wait_ns),
	COLUMN(struct blame_row, M_COUNT, b.count),
};
static const struct table_spec blame_table =
	TABLE("blame", "who had the core while they waited", blame_columns, .rank = "wait_ns");

static void add_blame(const struct runq_window *w, struct report *report)
{
	struct table *table = columns_table(report, &blame_table, w->has_names ? WITH_NAMES : 0);
	char victim[32], culprit[32], named_victim[32], named_culprit[32];

	/* Text output shows names of pods instead of cgroup paths. */
	if (table)
		table->cols[0].data_only = table->cols[1].data_only = w->has_names;
	array_for_each(blame, w->blame, w->nr_blame)
		columns_row(table, &(struct blame_row){
					   runq_party_key(w->per, &blame->victim, victim),
					   runq_party_key(w->per, &blame->culprit, culprit),
					   runq_party_name(w->per, &blame->victim, named_victim),
					   runq_party_name(w->per, &blame->culprit, named_culprit),
					   *blame,
				   });
}

struct quality_row {
	struct runq_window w;
	double percentile_error_ratio;
};

#define QUALITY(id, member)	COLUMN(struct quality_row, id, member)
#define LOSS(member, key, from) QUALITY(M_##key##_total, w.losses.member),
static const struct column_spec quality_columns[] = {
	QUALITY(M_SCHEDSTAT_RATIO, w.schedstat_ratio),
	QUALITY(M_MISSING_FROM_RUN_DELAY_RATIO, w.missing_from_run_delay_ratio),
	QUALITY(M_PERCENTILE_ERROR_RATIO, percentile_error_ratio),
	QUALITY(M_SAMPLE_RATIO, w.sample_ratio),
	QUALITY(M_KERNEL_BYTES, w.kernel_bytes),
	RUNQ_LOSSES(LOSS)};
const struct table_spec runq_quality_table =
	TABLE("quality", NULL, quality_columns, .optional = true);

void runq_report_quality(const struct runq_window *w, struct report *report)
{
	/* Without the fine histogram, the error depends on the boundaries and is unknown. */
	struct quality_row row = {*w, w->steps_only ? NAN : 1.0 / HIST_SUB};

	columns_set(report, &runq_quality_table, 0, &row);
}

#define OPTIONAL(key, member, if_) COLUMN(struct runq_window, M_##key##_total, member, .when = if_),
#define AVOIDABLE(member, key)	   OPTIONAL(key, member, WITH_AVOIDABLE)
#define IDLE(member, key)	   OPTIONAL(key, member, WITH_IDLE_STATES)
#define PRESSURE(member, key)	   OPTIONAL(key, pressure_losses.member, WITH_PRESSURE)
static const struct column_spec optional_losses[] = {
	RUNQ_IDLE_LOSSES(IDLE) RUNQ_AVOIDABLE_LOSSES(AVOIDABLE) RUNQ_PRESSURE_LOSSES(PRESSURE)};
static const struct table_spec optional_losses_table = TABLE("quality", NULL, optional_losses);

static void add_verdict(const struct runq_window *w, struct report *report)
{
	array_for_each(group, w->groups, w->nr_groups)
		if (group->exceeded)
			report_note(report, "%s: p%.9g is %.0f ns, more than %llu ns",
				    runq_party_path(&group->party), w->limit_percent,
				    group->judged_ns, (unsigned long long)w->limit_ns);
}

/* A wait is counted when it ends, so a wait can be longer than the window. */
static void note_longer(const struct runq_window *w, struct report *report)
{
	const struct runq_group_window *longest = NULL;
	char name[32];

	array_for_each(group, w->groups, w->nr_groups)
		if (group->count && group->max_ns > w->window_ns &&
		    (!longest || group->max_ns > longest->max_ns))
			longest = group;
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
	const struct {
		bool applies;
		const char *text;
	} notes[] = {
		{w->source == RUNQ_SOURCE_WAKEUP,
		 "source wakeup: subtick's own timestamps at sched_wakeup, sched_wakeup_new and "
		 "sched_switch"},
		{w->source != RUNQ_SOURCE_WAKEUP,
		 "source sched_info: the kernel's own timestamps, read at sched_switch"},
		{w->steps_only,
		 "percentiles are interpolated between the boundaries of le: each can be wrong by the "
		 "distance of the two around it; with --fine within 3.2 %"},
		{w->filtered,
		 "waits of other cgroups are left out in the kernel, so how many there were and the "
		 "comparison with schedstat are unavailable; --causes counts them"},
		{w->steps_only && w->sample_ratio < 1.0,
		 "the standard error of sums is unavailable without the fine histogram; fix: --fine"},
		{of_vms(w) && w->has_causes,
		 "causes are those of single tasks: other_group is also time behind other tasks of the "
		 "same row; --blame tells them apart"},
		{w->sum && !of_vms(w) && w->has_causes,
		 "causes are summed over cgroups: same_group is time behind tasks of the same cgroup, "
		 "other_group also behind other cgroups of the same row; --blame tells them apart"},
	};

	array_for_each(note, notes, ARRAY_SIZE(notes))
		if (note->applies)
			report_note(report, "%s", note->text);
	if (w->sched_info_err)
		report_note(report, "source sched_info is unavailable: %s%s%s",
			    w->sched_info_err->what, w->sched_info_err->fix[0] ? "; fix: " : "",
			    w->sched_info_err->fix);
	if (w->has_causes && !(w->causes_known >> RUNQ_THROTTLED & 1))
		report_note(report, "throttled time is unsupported: %s",
			    w->per == RUNQ_PER_CPU || w->per == RUNQ_PER_COMM
				    ? "a CPU quota belongs to a cgroup; use --per cgroup or task"
				    : "this kernel does not measure throttled time "
				      "(CONFIG_CFS_BANDWIDTH)");
	note_longer(w, report);
}

static const struct column_spec scheduler_columns[] = {
	COLUMN(struct sched_ext, M_SCHEDULER, name,
	       .flags = COLUMN_OPTIONAL | COLUMN_EMPTY_IS_NULL),
};
const struct table_spec runq_scheduler_table =
	TABLE("", NULL, scheduler_columns, .optional = true);

void runq_report_scheduler(const struct runq_window *w, struct report *report)
{
	const char *name = w->scheduler.name;

	columns_set(report, &runq_scheduler_table, 0, &w->scheduler);
	if (name[0])
		report_note(report, "the sched_ext scheduler %s decides which of the %s runs", name,
			    w->scheduler.partial ? "tasks with policy SCHED_EXT"
						 : "ordinary tasks");
	if (name[0] && w->has_causes)
		report_note(report,
			    "causes and blame come from switches, so they are also valid under %s; "
			    "throttled is quota of the fair class only: if %s enforces quotas "
			    "itself, these waits have another cause; migrated is time in a queue "
			    "from which another core took the task",
			    name, name);
	if (w->scheduler_changed)
		report_note(report,
			    "a sched_ext scheduler was enabled or disabled in this window: tasks "
			    "changed their class, and their waits continued%s",
			    w->source == RUNQ_SOURCE_WAKEUP
				    ? ""
				    : "; sums can lack up to a tick per core, as the kernel's "
				      "run_delay does (--source wakeup does not)");
}

struct field_row {
	const char *hierarchy;
	uint64_t waits_seen, steal_ns;
};

static const struct column_spec field_columns[] = {
	COLUMN(struct field_row, M_HIERARCHY, hierarchy, .when = OF_CGROUPS),
	COLUMN(struct field_row, M_WAITS_SEEN, waits_seen, .when = WITH_WAITS_SEEN),
	COLUMN(struct field_row, M_STEAL_NS, steal_ns, .when = WITH_WAITS_SEEN, .flags = COLUMN_LATER),
};
static const struct table_spec fields_table = TABLE("", NULL, field_columns);

static struct report *begin(const struct runq_window *w, uint64_t time_unix_ns, uint64_t window_ns,
			    unsigned int have)
{
	struct report *report =
		report_begin("runq", time_unix_ns, window_ns, runq_source_names[w->source]);
	struct field_row row = {
		.hierarchy = runq_hierarchy_names[w->hierarchy],
		.waits_seen = w->filtered ? UINT64_MAX : w->waits_seen,
		.steal_ns = w->steal_ns,
	};

	if (!report)
		return NULL;
	if (w->per == RUNQ_PER_CGROUP || w->per == RUNQ_PER_TASK)
		have |= OF_CGROUPS;
	columns_set(report, &fields_table, have, &row);
	return report;
}

int runq_report(const struct runq_window *w, const struct overview_window *all,
		struct report **ret_report)
{
	struct report *report = begin(w, w->time_unix_ns, w->window_ns, WITH_WAITS_SEEN);

	if (!report)
		return -ENOMEM;
	add_groups(w, report);
	if (w->has_blame)
		add_blame(w, report);
	runq_report_quality(w, report);
	/*
	 * Two calls, because a report lists the keys of avoidable waits first. The JSON Schema
	 * lists the keys in the order of optional_losses.
	 */
	columns_set(report, &optional_losses_table, w->has_avoidable ? WITH_AVOIDABLE : 0, w);
	columns_set(report, &optional_losses_table,
		    (w->has_idle_states ? WITH_IDLE_STATES : 0) |
			    (w->has_pressure ? WITH_PRESSURE : 0),
		    w);
	findings_begin(report);
	runq_findings(w, !all, report);
	if (all)
		overview_wait_findings(all, report);
	runq_avoidable_findings(w, report);
	if (w->has_avoidable)
		runq_report_avoidable(w, report);
	if (w->has_idle_states)
		runq_report_idle(w, report);
	if (w->has_pressure)
		runq_report_pressure(w, report);
	add_verdict(w, report);
	add_notes(w, report);
	runq_report_scheduler(w, report);
	if (w->has_idle_states)
		runq_report_advice(w, report);
	if (w->has_pressure)
		runq_report_pressure_notes(w, report);
	return report_finish(report, ret_report);
}

struct wait_row {
	struct runq_long_wait wait;
	const char *victim, *culprit;
};

static const struct column_spec wait_columns[] = {
	COLUMN(struct wait_row, M_CPU, wait.cpu),
	COLUMN(struct wait_row, M_WAIT_NS, wait.wait_ns),
	COLUMN(struct wait_row, M_PID, wait.pid),
	COLUMN(struct wait_row, M_TGID, wait.tgid),
	COLUMN(struct wait_row, M_COMM, wait.comm),
	COLUMN(struct wait_row, M_VICTIM, victim),
	COLUMN(struct wait_row, M_CULPRIT, culprit),
	COLUMN(struct wait_row, M_CULPRIT_NS, wait.culprit_ns, .flags = COLUMN_EMPTY_IS_NULL),
	COLUMN(struct wait_row, M_PREV_COMM, wait.prev_comm),
	COLUMN(struct wait_row, M_PREV_PID, wait.prev_pid),
	COLUMN(struct wait_row, M_END_NS, wait.end_ns, .flags = COLUMN_DATA_ONLY),
};
static const struct table_spec waits_table = TABLE("waits", NULL, wait_columns);

const struct table_spec *const runq_tables[] = {
	&fields_table,
	&runq_scheduler_table,
	&groups_per[RUNQ_PER_CGROUP],
	&groups_sum[ROLLUP_POD],
	&blame_table,
	&runq_idle_table,
	&runq_pressure_table,
	&waits_table,
	&findings_table,
	&runq_quality_table,
	&optional_losses_table,
	NULL,
};

int runq_report_waits(const struct runq_window *w, struct report **ret_report)
{
	char victim[32], culprit[32];
	struct report *report;
	struct table *table;

	*ret_report = NULL;
	if (!w->nr_long_waits)
		return 0;
	report = begin(w, clock_unix_ns(), 0, 0);
	if (!report)
		return -ENOMEM;
	/* Text output prints all long waits as one continuous table, without fields. */
	array_for_each(col, report->fields->cols, report->fields->nr_cols)
		col->data_only = true;
	table = columns_table(report, &waits_table, 0);
	array_for_each(wait, w->long_waits, w->nr_long_waits)
		columns_row(table, &(struct wait_row){
					   *wait,
					   runq_party_key(w->per, &wait->victim, victim),
					   wait->culprit_ns
						   ? runq_party_key(w->per, &wait->culprit, culprit)
						   : NULL,
				   });
	return report_finish(report, ret_report);
}
