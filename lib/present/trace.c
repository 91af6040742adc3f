/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick trace`: cores, picture, the longest waits with causes, tasks. */
#include "present/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "present/load.h"

struct cpu_row {
	uint32_t cpu;
	double busy_ratio, part_ratio[LOAD_NR_PARTS];
	uint64_t window_ns, edges, lost, gaps, ticks, frequency_hz;
	const char *line;
};

#define CPU(id, member, ...) COLUMN(struct cpu_row, id, member, __VA_ARGS__)
static const struct column_spec cpu_columns[] = {
	CPU(M_CPU, cpu),
	CPU(M_BUSY_RATIO, busy_ratio),
#define PART(id, part) CPU(id, part_ratio[LOAD_PART_##part]),
#define NONE(id, part)
	LOAD_PART_COLUMNS(PART, NONE) CPU(M_CPU_WINDOW_NS, window_ns),
	CPU(M_EDGES_TOTAL, edges),
	CPU(M_edges_lost_total, lost, .flags = COLUMN_DATA_ONLY),
	CPU(M_GAPS_TOTAL, gaps),
	CPU(M_TICKS_TOTAL, ticks, .flags = COLUMN_DATA_ONLY),
	CPU(M_FREQUENCY_HZ, frequency_hz, .flags = COLUMN_DATA_ONLY),
	CPU(M_TRACE_LINE, line, .flags = COLUMN_DATA_ONLY),
};
static const struct table_spec cpus_table = TABLE("cpus", NULL, cpu_columns);

static void add_cpus(const struct trace_window *w, struct report *report)
{
	struct table *table = columns_table(report, &cpus_table, 0);

	cpuset_for_each(cpu, &w->cpus) {
		const struct trace_cpu *c = &w->cpu[cpu];
		uint64_t window_ns = c->core.to_ns - c->core.from_ns;
		const uint64_t *part_ns = c->replay.part_ns;
		struct cpu_row row = {.cpu = cpu, .window_ns = window_ns, .edges = c->core.nr_edges,
				      .lost = c->lost, .gaps = c->core.nr_gaps, .line = c->line};

		row.ticks = w->has_ticks ? trace_ticks(c) : UINT64_MAX;
		row.frequency_hz = trace_last_khz(w, cpu) * 1000ULL ?: UINT64_MAX;
		/* The ratios of a window of 0 ns are NaN, which becomes null. */
		for (int i = 0; i < LOAD_NR_PARTS; i++)
			row.part_ratio[i] = (double)part_ns[i] / (double)window_ns;
		row.busy_ratio = (double)(window_ns - part_ns[LOAD_PART_IDLE] -
					  part_ns[LOAD_PART_POLL_IDLE] - part_ns[LOAD_PART_UNKNOWN]) /
				 (double)window_ns;
		columns_row(table, &row);
	}
}

const char *trace_slice_name(const struct trace_window *w, const struct trace_slice *slice)
{
	if (slice->part == LOAD_PART_HARDIRQ)
		return trace_irq_name(w, slice->kind, slice->what);
	if (slice->part == LOAD_PART_SOFTIRQ_ON_IDLE || slice->part == LOAD_PART_SOFTIRQ_ON_TASK)
		return load_vec_name(slice->what);
	return NULL;
}

const char *trace_waker_irq(const struct trace_window *w, const struct trace_wait *wait)
{
	const struct trace_cpu *cpu = &w->cpu[wait->waker_cpu];
	const struct trace_slice *slice;
	const char *name;
	size_t at;

	if (!wait->woken || wait->waker_cpu >= w->nr_cpus)
		return NULL;
	at = trace_slice_at(cpu, wait->waking_ns);
	slice = &cpu->slices[at];
	if (at == cpu->nr_slices || slice->from_ns > wait->waking_ns)
		return NULL;
	name = trace_slice_name(w, slice);
	if (!name)
		return NULL;
	/* Timer interrupts have names such as arch_timer, local_timer, TIMER and HRTIMER. */
	return strcasestr(name, "timer") ? "timer" : *name ? name : "interrupt";
}

char *trace_ended(const struct trace_window *w)
{
	double at_ms = (double)w->event_ns / 1e6, length_ms = (double)w->event_len_ns / 1e6;
	char *text;
	int len;

	if (!w->event)
		return NULL;
	if (w->event == TRACE_EVENT_PERCENTILE)
		len = asprintf(&text,
			       "ended at %.3f ms: %llu of %llu waits of %s in %.3g s took %.3g ms or "
			       "longer",
			       at_ms, (unsigned long long)w->event_long,
			       (unsigned long long)w->event_waits, w->event_cgroup,
			       (double)w->event_window_ns / 1e9, length_ms);
	else
		len = asprintf(&text, "ended at %.3f ms by %s of %.3g ms on CPU %u: task %s (%u)",
			       at_ms,
			       w->event == TRACE_EVENT_WAIT   ? "a wait"
			       : w->event == TRACE_EVENT_WAKE ? "a wait after a wake-up"
							      : "noise",
			       length_ms, w->event_cpu, trace_comm(w, w->event_pid), w->event_pid);
	return len < 0 ? NULL : text;
}

struct wait_row {
	struct trace_wait w;
	struct trace_chain chain;
	uint64_t wait_ns, avoidable_ns, idle_cpu_ns;
	uint32_t waker_pid, waker_cpu;
	const char *comm, *began, *waker, *culprit, *placed_by;
};

/*
 * Step of the scheduler that left the task waiting although a CPU was idle: "wake-up" or "balance".
 * NULL if no part of the wait was avoidable.
 */
static const char *placed_by(const struct trace_wait *wait)
{
	if (!wait->avoidable.ns)
		return NULL;
	return wait->woken && wait->avoidable.at_start ? "wake-up" : "balance";
}

static void add_wait(const struct trace_window *w, const struct trace_wait *wait,
		     struct table *table)
{
	const char *irq = trace_waker_irq(w, wait);
	bool by_task = wait->woken && !irq && wait->waker != UINT32_MAX;
	struct wait_row row = {
		.w = *wait,
		.wait_ns = wait->to_ns - wait->from_ns,
		.comm = trace_comm(w, wait->pid),
		.began = wait->woken ? "woken" : "preempted",
		.waker = by_task ? trace_comm(w, wait->waker) : irq,
		.waker_pid = by_task ? wait->waker : UINT32_MAX,
		.waker_cpu = wait->woken ? wait->waker_cpu : UINT32_MAX,
		.avoidable_ns = wait->avoidable.known ? wait->avoidable.ns : UINT64_MAX,
		.idle_cpu_ns = wait->avoidable.ns ? wait->avoidable.cpu_ns : UINT64_MAX,
		.placed_by = placed_by(wait),
	};

	trace_wait_chain(w, wait, &row.chain);
	row.culprit = row.chain.culprit == UINT32_MAX ? NULL : trace_comm(w, row.chain.culprit);
	columns_row(table, &row);
}

#define WAIT(id, member, ...) COLUMN(struct wait_row, id, member, __VA_ARGS__)
static const struct column_spec wait_columns[] = {
	WAIT(M_AT_NS, w.to_ns),
	WAIT(M_CPU, w.cpu),
	WAIT(M_WAIT_NS, wait_ns),
	WAIT(M_PID, w.pid),
	WAIT(M_COMM, comm),
	WAIT(M_BEGAN, began),
	WAIT(M_QUOTA_HELD, w.throttled),
	WAIT(M_QUOTA_HELD_NS, w.throttled_ns, .flags = COLUMN_EMPTY_IS_NULL),
	WAIT(M_WAKER_COMM, waker),
	WAIT(M_WAKER_PID, waker_pid, .flags = COLUMN_DATA_ONLY),
	WAIT(M_WAKER_CPU, waker_cpu),
	WAIT(M_CULPRIT, culprit),
	WAIT(M_CULPRIT_PID, chain.culprit, .flags = COLUMN_DATA_ONLY),
	WAIT(M_CULPRIT_NS, chain.culprit_ns),
	WAIT(M_WAIT_IRQ_NS, chain.irq_ns),
	WAIT(M_WAIT_SOFTIRQ_NS, chain.softirq_ns),
	WAIT(M_WAIT_IDLE_NS, chain.idle_ns),
	WAIT(M_AVOIDABLE_NS, avoidable_ns, .flags = COLUMN_LATER),
	WAIT(M_IDLE_CPU, w.avoidable.cpu, .flags = COLUMN_LATER),
	WAIT(M_IDLE_CPU_NS, idle_cpu_ns, .flags = COLUMN_DATA_ONLY | COLUMN_LATER),
	WAIT(M_PLACED_BY, placed_by, .flags = COLUMN_LATER),
};
static const struct table_spec waits_table =
	TABLE("waits", "the longest waits for a core", wait_columns);

static void add_waits(const struct trace_window *w, uint32_t top, struct report *report)
{
	struct table *table = columns_table(report, &waits_table, 0);
	struct trace_wait *list = NULL;
	size_t nr = 0;

	report->failed |= trace_longest_waits(w, top, &list, &nr) != 0;
	array_for_each(wait, list, nr)
		add_wait(w, wait, table);
	free(list);
}

struct task_row {
	struct trace_task_sum sum;
	uint32_t tgid;
	const char *comm;
	uint64_t cgroup_id;
};

#define TASK(id, member, ...) COLUMN(struct task_row, id, member, __VA_ARGS__)
static const struct column_spec task_columns[] = {
	TASK(M_PID, sum.pid),
	TASK(M_TGID, tgid, .flags = COLUMN_DATA_ONLY),
	TASK(M_COMM, comm),
	TASK(M_CGROUP_ID, cgroup_id, .flags = COLUMN_DATA_ONLY),
	TASK(M_RUN_NS, sum.run_ns),
	TASK(M_COUNT, sum.waits),
	TASK(M_SUM_NS, sum.wait_ns),
	TASK(M_MAX_NS, sum.max_ns),
	TASK(M_AVOIDABLE_NS, sum.avoidable_ns, .flags = COLUMN_LATER),
};
static const struct table_spec tasks_table =
	TABLE("tasks", "tasks: time on a core, and waits for one", task_columns);

static void add_tasks(const struct trace_window *w, uint32_t top, struct report *report)
{
	struct table *table = columns_table(report, &tasks_table, 0);

	array_for_each(task, w->tasks, top && top < w->nr_tasks ? top : w->nr_tasks) {
		const struct trace_task *name = trace_name(w, task->pid);

		columns_row(table, &(struct task_row){*task, name ? name->tgid : UINT32_MAX,
						      name ? name->comm : NULL,
						      name ? name->cgroup : UINT64_MAX});
	}
}

/* Conditions for keys that describe the event which ended the recording. */
enum {
	ANY_EVENT = 1,
	OF_PERCENTILE = 2,
	OF_TASK = 4,
};

struct event_row {
	const char *event, *comm;
	struct trace_window w;
};

/* Text output describes the event that ended the recording in a sentence, see trace_ended(). */
#define FIELD(id, member, if_) \
	COLUMN(struct event_row, id, member, .when = if_, .flags = COLUMN_DATA_ONLY)
static const struct column_spec event_columns[] = {
	COLUMN(struct event_row, M_AVOIDABLE_NS, w.avoidable_ns, .flags = COLUMN_LATER),
	FIELD(M_EVENT, event, ANY_EVENT),
	FIELD(M_EVENT_AT_NS, w.event_ns, ANY_EVENT),
	FIELD(M_EVENT_LEN_NS, w.event_len_ns, ANY_EVENT),
	FIELD(M_EVENT_CGROUP, w.event_cgroup, OF_PERCENTILE),
	FIELD(M_EVENT_WAITS_TOTAL, w.event_waits, OF_PERCENTILE),
	FIELD(M_EVENT_LONG_TOTAL, w.event_long, OF_PERCENTILE),
	FIELD(M_EVENT_WINDOW_NS, w.event_window_ns, OF_PERCENTILE),
	FIELD(M_EVENT_CPU, w.event_cpu, OF_TASK),
	FIELD(M_EVENT_COMM, comm, OF_TASK),
	FIELD(M_EVENT_PID, w.event_pid, OF_TASK),
};
static const struct table_spec event_table = TABLE("", NULL, event_columns);

static const struct column_spec quality_columns[] = {
#define LOSS(member, key) COLUMN(struct trace_window, M_##key##_total, losses.member),
	TRACE_LOSSES(LOSS)
	COLUMN(struct trace_window, M_KERNEL_BYTES, kernel_bytes),
	COLUMN(struct trace_window, M_AVOIDABLE_UNKNOWN_TOTAL, avoidable_unknown, .flags = COLUMN_LATER),
};
static const struct table_spec quality_table = TABLE("quality", NULL, quality_columns);

const struct table_spec *const trace_tables[] = {
	&event_table, &cpus_table, &waits_table, &tasks_table, &quality_table, NULL,
};

static void add_event(const struct trace_window *w, struct report *report)
{
	static const char *const names[] = {[TRACE_EVENT_WAIT] = "wait",
					    [TRACE_EVENT_WAKE] = "wake",
					    [TRACE_EVENT_NOISE] = "noise",
					    [TRACE_EVENT_PERCENTILE] = "percentile"};
	struct event_row row = {names[w->event], trace_comm(w, w->event_pid), *w};
	unsigned int have = !w->event ? 0
			    : w->event == TRACE_EVENT_PERCENTILE ? ANY_EVENT | OF_PERCENTILE
								 : ANY_EVENT | OF_TASK;

	columns_set(report, &event_table, have, &row);
}

static void add_picture(const struct trace_window *w, struct report *report)
{
	report_note(report, "from left to right: # task, i interrupt, s softirq, k ksoftirqd, l idle loop, "
			    "p polling, . halted, ? unknown");
	cpuset_for_each(cpu, &w->cpus)
		report_note(report, "CPU %3u |%s|", cpu, w->cpu[cpu].line);
}

static void add_avoidable(const struct trace_window *w, struct report *report)
{
	struct cpuset others = w->online;

	cpuset_for_each(cpu, &w->cpus)
		cpuset_del(&others, cpu);
	if (cpuset_count(&others))
		report_note(report, "avoidable waits: idle time of the %u CPUs that were not recorded is "
				    "not included",
			    cpuset_count(&others));
	if (w->avoidable_unknown)
		report_note(report,
			    "avoidable waits: unknown for %" PRIu64
			    " of %zu waits, because the allowed CPUs of the task changed, or its "
			    "throttled time is unknown",
			    w->avoidable_unknown, w->waits.nr);
}

static void add_asked(const struct trace_window *w, struct report *report)
{
	cpuset_for_each(cpu, &w->cpus) {
		const struct trace_core *core = &w->cpu[cpu].core;
		double seconds = (double)(core->to_ns - core->from_ns) / 1e9;
		uint32_t khz = trace_last_khz(w, cpu);

		if (w->has_ticks)
			report_note(report, "CPU %3u: %.1f ticks per second", cpu,
				    (double)trace_ticks(&w->cpu[cpu]) / seconds);
		if (w->has_frequency && khz)
			report_note(report, "CPU %3u: last set to %.3f GHz", cpu, khz / 1e6);
		else if (w->has_frequency)
			report_note(report, "CPU %3u: its frequency was not set", cpu);
	}
}

int trace_report(const struct trace_window *w, uint32_t top, struct report **ret_report)
{
	struct report *report =
		report_begin("trace", w->time_unix_ns, w->to_ns - w->from_ns, "bpf");
	char *ended;

	if (!report)
		return -ENOMEM;
	add_event(w, report);
	add_cpus(w, report);
	add_waits(w, top, report);
	add_tasks(w, top, report);
	columns_set(report, &quality_table, 0, w);
	add_picture(w, report);
	add_avoidable(w, report);
	add_asked(w, report);
	ended = trace_ended(w);
	if (ended)
		report_note(report, "%s", ended);
	else
		report->failed |= w->event != TRACE_EVENT_NONE;
	free(ended);
	return report_finish(report, ret_report);
}
