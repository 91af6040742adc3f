/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick noise`: cores, sources, affected cgroups, quality. */
#include "present/noise.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "present/load.h"
#include "report/findings.h"

struct core_row {
	struct noise_core c;
	double noise, class[NOISE_CLASSES], tasks, part[LOAD_NR_PARTS], steal, events_hz;
	int8_t exceeded;
	char flags[96];
};

#define CORE(id, member, ...) COLUMN(struct core_row, id, member, __VA_ARGS__)

#define WITH_LIMITS 1

static const struct column_spec core_columns[] = {
	CORE(M_CPU, c.cpu),
	CORE(M_NOISE_RATIO, noise),
	CORE(M_HARDIRQ_RATIO, class[NOISE_HARDIRQ]),
	CORE(M_NOISE_SOFTIRQ_RATIO, class[NOISE_SOFTIRQ]),
	CORE(M_KTHREAD_RATIO, class[NOISE_THREAD]),
	CORE(M_TASKS_RATIO, tasks),
	CORE(M_IDLE_LOOP_RATIO, part[LOAD_PART_IDLE_LOOP]),
	CORE(M_POLL_IDLE_RATIO, part[LOAD_PART_POLL_IDLE], .flags = COLUMN_DATA_ONLY),
	CORE(M_IDLE_RATIO, part[LOAD_PART_IDLE]),
	CORE(M_UNKNOWN_RATIO, part[LOAD_PART_UNKNOWN], .flags = COLUMN_DATA_ONLY),
	CORE(M_STEAL_RATIO, steal, .flags = COLUMN_DATA_ONLY),
	CORE(M_EVENTS_TOTAL, c.events, .flags = COLUMN_DATA_ONLY),
	CORE(M_EVENTS_HZ, events_hz),
	CORE(M_MAX_NS, c.longest_ns),
	CORE(M_CLOSURE_ERROR_RATIO, c.closure_error_ratio),
	CORE(M_CPU_WINDOW_NS, c.window_ns, .flags = COLUMN_DATA_ONLY),
	CORE(M_FLAGS, flags),
	CORE(M_EXCEEDED, exceeded, .when = WITH_LIMITS),
};
static const struct table_spec cores_table = TABLE("cores", NULL, core_columns);

static double share(const struct noise_core *core, uint64_t ns)
{
	return ns == UINT64_MAX ? NAN : (double)ns / (double)core->window_ns;
}

static void fill_core(const struct noise_core *core, struct core_row *row)
{
	row->c = *core;
	row->noise = noise_share(core);
	for (int i = 0; i < NOISE_CLASSES; i++)
		row->class[i] = share(core, core->class_ns[i]);
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		row->part[i] = share(core, core->part_ns[i]);
	row->tasks = share(core, core->task_ns);
	row->steal = share(core, core->steal_ns);
	row->events_hz = noise_rate(core);
	row->exceeded = core->exceeded;
}

static void add_cores(const struct noise_window *w, struct report *report)
{
	struct table *table = columns_table(report, &cores_table, w->judged ? WITH_LIMITS : 0);

	array_for_each(core, w->cores, w->nr_cores) {
		struct core_row row;

		memset(&row, COLUMN_ALL_NULL, sizeof(row));
		row.c.cpu = core->cpu;
		load_flags_format(core->flags, row.flags, sizeof(row.flags));
		if (!(core->flags & LOAD_NO_FIGURE))
			fill_core(core, &row);
		columns_row(table, &row);
	}
}

struct source_row {
	struct noise_source s;
	const char *kind;
	double ratio;
};

static const struct noise_core *core_of(const struct noise_window *w, unsigned int cpu)
{
	array_for_each(core, w->cores, w->nr_cores)
		if (core->cpu == cpu)
			return core;
	return NULL;
}

static const struct column_spec source_columns[] = {
	COLUMN(struct source_row, M_CPU, s.cpu),
	COLUMN(struct source_row, M_NOISE_KIND, kind),
	COLUMN(struct source_row, M_IRQ, s.irq),
	COLUMN(struct source_row, M_NOISE_NAME, s.name),
	COLUMN(struct source_row, M_COUNT, s.count),
	COLUMN(struct source_row, M_SUM_NS, s.ns),
	COLUMN(struct source_row, M_PERCENTILE_NS, s.p99_ns, .key = "p99_ns", .title = "p99"),
	COLUMN(struct source_row, M_MAX_NS, s.longest_ns, .flags = COLUMN_EMPTY_IS_NULL),
	COLUMN(struct source_row, M_NOISE_TIME_RATIO, ratio),
	COLUMN(struct source_row, M_NOISE_ADVICE, s.knob),
};
static const struct table_spec sources_table =
	TABLE("sources", "sources that took time from the tasks of each core", source_columns);

static void add_sources(const struct noise_window *w, struct report *report)
{
	struct table *table = columns_table(report, &sources_table, 0);
	unsigned int shown = 0;

	array_for_each(source, w->sources, w->nr_sources) {
		const struct noise_core *core = core_of(w, source->cpu);

		if (source == w->sources || source->cpu != source[-1].cpu)
			shown = 0;
		if (!core || (core->flags & LOAD_NO_FIGURE) || (w->top && shown++ >= w->top))
			continue;
		columns_row(table, &(struct source_row){*source, noise_kind_name(source->kind),
							share(core, source->ns)});
	}
}

struct hit_row {
	struct noise_hit h;
	uint64_t id;
	const char *comm;
};

static const struct column_spec hit_columns[] = {
	COLUMN(struct hit_row, M_HIT_CGROUP, h.cgroup),
	COLUMN(struct hit_row, M_CGROUP_ID, id, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct hit_row, M_HIT_HARDIRQ_NS, h.ns[NOISE_HARDIRQ]),
	COLUMN(struct hit_row, M_HIT_HARDIRQ_TOTAL, h.count[NOISE_HARDIRQ]),
	COLUMN(struct hit_row, M_HIT_SOFTIRQ_NS, h.ns[NOISE_SOFTIRQ]),
	COLUMN(struct hit_row, M_HIT_SOFTIRQ_TOTAL, h.count[NOISE_SOFTIRQ]),
	COLUMN(struct hit_row, M_HIT_KTHREAD_NS, h.ns[NOISE_THREAD]),
	COLUMN(struct hit_row, M_HIT_KTHREAD_TOTAL, h.count[NOISE_THREAD]),
	COLUMN(struct hit_row, M_MAX_NS, h.longest_ns, .flags = COLUMN_EMPTY_IS_NULL),
	COLUMN(struct hit_row, M_COMM, comm),
	COLUMN(struct hit_row, M_PID, h.pid),
};
static const struct table_spec hits_table = TABLE("hits", "whom it hit", hit_columns);

static void add_hits(const struct noise_window *w, struct report *report)
{
	struct table *table = columns_table(report, &hits_table, 0);

	array_for_each(hit, w->hits, w->nr_hits) {
		bool task = hit->key != NOISE_ON_IDLE && hit->longest_ns;
		struct hit_row row = {
			.h = *hit,
			.id = hit->key >= NOISE_ON_THREAD ? UINT64_MAX : hit->key,
			.comm = task ? hit->comm : NULL,
		};

		if (!task)
			row.h.pid = UINT32_MAX;
		columns_row(table, &row);
	}
}

struct delay_row {
	struct noise_delay d;
	const char *vec;
};

#define DELAY(id, member, ...) COLUMN(struct delay_row, id, member, __VA_ARGS__)

static const struct column_spec delay_columns[] = {
	DELAY(M_CPU, d.cpu),
	DELAY(M_SOFTIRQ_VEC, vec),
	DELAY(M_COUNT, d.times.count),
	DELAY(M_SUM_NS, d.times.ns),
	DELAY(M_PERCENTILE_NS, d.times.p99_ns, .key = "p99_ns", .title = "p99"),
	DELAY(M_MAX_NS, d.times.longest_ns, .flags = COLUMN_EMPTY_IS_NULL),
};
static const struct table_spec delays_table =
	TABLE("softirq_delays", "how long softirqs waited from raise to run", delay_columns);

static void add_delays(const struct noise_window *w, struct report *report)
{
	struct table *table = columns_table(report, &delays_table, 0);

	array_for_each(delay, w->delays, w->nr_delays)
		columns_row(table, &(struct delay_row){*delay, load_vec_name(delay->vec)});
}

#define FUNCTION(id, member, ...) COLUMN(struct noise_function, id, member, __VA_ARGS__)

static const struct column_spec function_columns[] = {
	FUNCTION(M_CPU, cpu),
	FUNCTION(M_WORK_FUNCTION, name, .flags = COLUMN_EMPTY_IS_NULL),
	FUNCTION(M_EXECUTIONS_TOTAL, executions),
	FUNCTION(M_WORK_NS, ns),
	FUNCTION(M_WORK_MAX_NS, longest_ns, .flags = COLUMN_EMPTY_IS_NULL),
	FUNCTION(M_QUEUE_DELAY_COUNT, delay.count, .flags = COLUMN_DATA_ONLY),
	FUNCTION(M_QUEUE_DELAY_NS, delay.ns, .key = "delay_sum_ns", .flags = COLUMN_DATA_ONLY),
	FUNCTION(M_QUEUE_DELAY_NS, delay.p99_ns, .key = "delay_p99_ns", .title = "delay p99"),
	FUNCTION(M_QUEUE_DELAY_NS, delay.longest_ns, .key = "delay_max_ns", .title = "delay max",
		 .flags = COLUMN_EMPTY_IS_NULL),
};
static const struct table_spec functions_table =
	TABLE("work_functions", "what kworkers executed", function_columns);

static void add_functions(const struct noise_window *w, struct report *report)
{
	struct table *table = columns_table(report, &functions_table, 0);
	unsigned int shown = 0;
	bool unnamed = false;

	array_for_each(function, w->functions, w->nr_functions) {
		if (function == w->functions || function->cpu != function[-1].cpu)
			shown = 0;
		unnamed |= !function->name[0];
		if (!w->top || shown++ < w->top)
			columns_row(table, function);
	}
	if (unnamed)
		report_note(report,
			    "the kernel reports no symbol for some work functions: use Linux 5.13 or "
			    "later, built with CONFIG_KALLSYMS=y");
}

struct sender_row {
	struct noise_sender s;
	const char *by;
};

#define SENDER(id, member, ...) COLUMN(struct sender_row, id, member, __VA_ARGS__)
#define SENDER_COUNTS                                                                 \
	SENDER(M_COUNT, s.count),                                                     \
		SENDER(M_SENT_BY_TOTAL, s.by_process, .flags = COLUMN_EMPTY_IS_NULL), \
		SENDER(M_SENT_BY_PID, s.pid), SENDER(M_SENT_BY, by)

static const struct column_spec sender_columns[] = {
	SENDER(M_CPU, s.cpu),
	SENDER(M_FROM_CPU, s.from_cpu),
	SENDER(M_IPI, s.name),
	SENDER_COUNTS,
};
static const struct table_spec senders_table =
	TABLE("senders", "who sent interrupts to each core", sender_columns);

static const struct column_spec call_columns[] = {
	SENDER(M_CPU, s.cpu),
	SENDER(M_FROM_CPU, s.from_cpu),
	SENDER(M_CALLED_FUNCTION, s.name, .flags = COLUMN_EMPTY_IS_NULL),
	SENDER_COUNTS,
};
static const struct table_spec calls_table =
	TABLE("calls", "functions that others called on each core", call_columns);

static void add_sent(const struct noise_sent *sent, const struct table_spec *spec,
		     struct report *report)
{
	struct table *table = columns_table(report, spec, 0);

	array_for_each(sender, sent->list, sent->nr) {
		struct sender_row row = {.s = *sender};

		if (sender->by_process)
			row.by = sender->pid == NOISE_BY_INTERRUPT ? "(interrupt)"
				 : sender->pid			   ? sender->comm
								   : "(idle)";
		if (!row.by || sender->pid == NOISE_BY_INTERRUPT)
			row.s.pid = UINT32_MAX;
		columns_row(table, &row);
	}
}

static void add_senders_and_calls(const struct noise_window *w, struct report *report)
{
	bool unnamed = false;

	if (!w->has_senders)
		return;
	add_sent(&w->senders, &senders_table, report);
	if (w->calls_known)
		add_sent(&w->calls, &calls_table, report);
	else
		report_note(report, "the functions called by IPIs are unknown: this kernel has no "
				    "tracepoint csd_queue_cpu (Linux 6.5 and later)");
	array_for_each(call, w->calls.list, w->calls.nr)
		unnamed |= !call->name[0];
	if (unnamed)
		report_note(report,
			    "the kernel has no symbol for some of the functions called: use a "
			    "kernel built with CONFIG_KALLSYMS=y");
}

static const struct column_spec field_columns[] = {
	COLUMN(struct noise_window, M_HIERARCHY, hierarchy),
#define LIMIT(id, member, ...) \
	COLUMN(struct noise_window, id, member, .when = WITH_LIMITS, __VA_ARGS__)
	LIMIT(M_LIMIT_MAX_NS, limits.max_ns, .flags = COLUMN_OPTIONAL),
	LIMIT(M_LIMIT_RATE_HZ, limits.rate_hz, .flags = COLUMN_OPTIONAL),
	LIMIT(M_LIMIT_SHARE_RATIO, limits.share_ratio, .flags = COLUMN_OPTIONAL),
	LIMIT(M_EXCEEDED_TOTAL, exceeded),
};
static const struct table_spec fields_table = TABLE("", NULL, field_columns);

#define WITH_SENDERS 1

static const struct column_spec quality_columns[] = {
	COLUMN(struct noise_window, M_CLOSURE_MAX_RATIO, closure_max_ratio),
	COLUMN(struct noise_window, M_STEAL_KNOWN, steal_known),
	COLUMN(struct noise_window, M_NMI_KNOWN, nmi_known),
#define LOSS(member, key) COLUMN(struct noise_window, M_##key##_total, noise_losses.member),
#define OF_SENDERS(member, key) \
	COLUMN(struct noise_window, M_##key##_total, noise_losses.member, .when = WITH_SENDERS),
	NOISE_LOSSES(LOSS)
	COLUMN(struct noise_window, M_SOURCE_LOST_NS, noise_losses.source_ns),
	NOISE_SENDER_LOSSES(OF_SENDERS)
	COLUMN(struct noise_window, M_CALLS_KNOWN, calls_known, .when = WITH_SENDERS),
};
static const struct table_spec quality_table = TABLE("quality", NULL, quality_columns);

const struct table_spec *const noise_tables[] = {
	&fields_table,	  &cores_table,	  &sources_table, &hits_table,	  &delays_table,
	&functions_table, &senders_table, &calls_table,	  &findings_table, &quality_table,
	&load_losses_table, NULL,
};

int noise_report(const struct noise_window *w, const struct overview_window *all,
		 struct report **ret_report)
{
	struct report *report = report_begin("noise", w->time_unix_ns, w->window_ns, "bpf");

	if (!report)
		return -ENOMEM;
	columns_set(report, &fields_table, w->judged ? WITH_LIMITS : 0, w);
	add_cores(w, report);
	add_sources(w, report);
	add_hits(w, report);
	add_delays(w, report);
	add_functions(w, report);
	add_senders_and_calls(w, report);
	findings_begin(report);
	noise_findings(w, all, report);
	columns_set(report, &quality_table, w->has_senders ? WITH_SENDERS : 0, w);
	columns_set(report, &load_losses_table, 0, &w->losses);
	if (!w->nmi_known)
		report_note(report, "NMIs are not reported by this kernel: their time is charged "
				    "to the interrupted context");
	if (!w->steal_known)
		report_note(report, "steal is not reported by this kernel: stolen time is charged "
				    "to the interrupted context");
	return report_finish(report, ret_report);
}
