/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the tables of `subtick load` for --cores, --cgroups, --irq and --tasks. */
#include "present/load.h"

#include <math.h>

void load_note_unmeasured(const struct load_window *w, const char *what, struct report *report)
{
	report_note(report, "source %s does not see %s: use --source bpf", w->source, what);
}

static bool has_figure(const struct load_window *w, unsigned int cpu)
{
	return cpuset_has(&w->cpus, cpu) && !(w->cpu[cpu].flags & LOAD_NO_FIGURE);
}

static double share_of(uint64_t ns, uint64_t window_ns)
{
	double share = window_ns ? (double)ns / (double)window_ns : 0.0;

	/* Task times are read some µs after the end of the window, so a share can exceed 1. */
	return share > 1.0 ? 1.0 : share;
}

struct core_row {
	struct load_core c;
	char cpus[32];
	double ratio[LOAD_NR_SIBLINGS], closure_error_ratio;
	char flags[96];
};

static const struct column_spec core_columns[] = {
	COLUMN(struct core_row, M_PACKAGE, c.package),
	COLUMN(struct core_row, M_CORE, c.core),
	COLUMN(struct core_row, M_SIBLINGS, cpus),
	COLUMN(struct core_row, M_NONE_BUSY_RATIO, ratio[LOAD_SIBLINGS_NONE]),
	COLUMN(struct core_row, M_ONE_BUSY_RATIO, ratio[LOAD_SIBLINGS_ONE]),
	COLUMN(struct core_row, M_ALL_BUSY_RATIO, ratio[LOAD_SIBLINGS_ALL]),
	COLUMN(struct core_row, M_CORE_CLOSURE_RATIO, closure_error_ratio),
	COLUMN(struct core_row, M_FLAGS, flags),
};
const struct table_spec load_cores_table = TABLE(
	"cores", "time of each physical core by the number of its busy hyperthreads", core_columns);

static void add_cores(const struct load_window *w, struct report *report)
{
	struct table *table = columns_table(report, &load_cores_table, 0);

	array_for_each(core, w->cores, w->nr_cores) {
		bool figure = !(core->flags & LOAD_NO_FIGURE);
		struct core_row row = {.c = *core, .closure_error_ratio = NAN};
		struct cpuset cpus = {0};

		cpuset_add(&cpus, core->cpu[0]);
		cpuset_add(&cpus, core->cpu[1]);
		if (!cpuset_has(&w->cpus, core->cpu[0]) && !cpuset_has(&w->cpus, core->cpu[1]))
			continue;
		cpuset_format(&cpus, row.cpus, sizeof(row.cpus));
		for (int busy = 0; busy < LOAD_NR_SIBLINGS; busy++)
			row.ratio[busy] = figure ? share_of(core->busy_ns[busy], core->window_ns) : NAN;
		if (core->cpu[0] == core->cpu[1])
			row.ratio[LOAD_SIBLINGS_ONE] = NAN;
		if (figure)
			row.closure_error_ratio = core->closure_error_ratio;
		load_flags_format(core->flags, row.flags, sizeof(row.flags));
		columns_row(table, &row);
	}
}

struct pair_row {
	struct load_pair p;
	double ratio;
};

static const struct column_spec pair_columns[] = {
	COLUMN(struct pair_row, M_PAIR_CGROUP, p.cgroup),
	COLUMN(struct pair_row, M_PAIR_SIBLING, p.sibling),
	COLUMN(struct pair_row, M_PAIR_RUN_NS, p.run_ns, .flags = COLUMN_EMPTY_IS_NULL),
	COLUMN(struct pair_row, M_PAIR_NS, p.ns),
	COLUMN(struct pair_row, M_PAIR_RATIO, ratio),
};
const struct table_spec load_pairs_table =
	TABLE("cgroups", "cgroups that share a physical core", pair_columns);

static void add_pairs(const struct load_window *w, struct report *report)
{
	struct table *table = columns_table(report, &load_pairs_table, 0);

	array_for_each(pair, w->pairs, w->nr_pairs) {
		double ratio = pair->run_ns ? share_of(pair->ns, pair->run_ns) : NAN;

		columns_row(table, &(struct pair_row){*pair, ratio});
	}
}

struct line_row {
	struct load_line l;
	double ratio;
	uint64_t mean_ns;
};

static const struct column_spec line_columns[] = {
	COLUMN(struct line_row, M_CPU, l.cpu),		COLUMN(struct line_row, M_IRQ, l.irq),
	COLUMN(struct line_row, M_IRQ_HANDLER, l.name), COLUMN(struct line_row, M_IRQ_RATIO, ratio),
	COLUMN(struct line_row, M_IRQ_COUNT, l.count),	COLUMN(struct line_row, M_AVG_NS, mean_ns),
};
const struct table_spec load_irqs_table = TABLE("irqs", "interrupts by line", line_columns);

static void add_lines(const struct load_window *w, struct report *report)
{
	struct table *table = columns_table(report, &load_irqs_table, 0);

	array_for_each(line, w->lines, w->nr_lines)
		if (has_figure(w, line->cpu))
			columns_row(table,
				    &(struct line_row){
					    *line,
					    share_of(line->ns, w->cpu[line->cpu].window_ns),
					    line->count ? line->ns / line->count : UINT64_MAX,
				    });
}

/* CPU time of all tasks on @cpu. CPU times of tasks include steal time. */
static uint64_t tasks_of(const struct load_window *w, unsigned int cpu)
{
	uint64_t ns = 0;

	array_for_each(task, w->tasks, w->nr_tasks)
		if (task->cpu == cpu)
			ns += task->ns;
	return ns;
}

struct task_row {
	struct load_task t;
	double ratio, of_task_ratio;
};

static const struct column_spec task_columns[] = {
	COLUMN(struct task_row, M_CPU, t.cpu),
	COLUMN(struct task_row, M_PID, t.pid),
	COLUMN(struct task_row, M_TGID, t.tgid),
	COLUMN(struct task_row, M_COMM, t.comm),
	COLUMN(struct task_row, M_TASK_SHARE_RATIO, ratio),
	COLUMN(struct task_row, M_OF_TASKS_RATIO, of_task_ratio),
	COLUMN(struct task_row, M_TASK_COUNT, t.count),
};
const struct table_spec load_tasks_table =
	TABLE("tasks", "tasks with most time of each core", task_columns);

static void add_tasks(const struct load_window *w, struct report *report)
{
	struct table *table = columns_table(report, &load_tasks_table, 0);
	unsigned int shown = 0;
	uint64_t all = 0;

	array_for_each(task, w->tasks, w->nr_tasks) {
		struct task_row row = {.t = *task};

		if (task == w->tasks || task->cpu != task[-1].cpu) {
			shown = 0;
			all = tasks_of(w, task->cpu);
		}
		if (!has_figure(w, task->cpu) || shown++ >= w->top)
			continue;
		row.t.comm[sizeof(row.t.comm) - 1] = '\0';
		row.ratio = share_of(task->ns, w->cpu[task->cpu].window_ns);
		row.of_task_ratio = share_of(task->ns, all);
		columns_row(table, &row);
	}
}

void load_report_who(const struct load_window *w, struct report *report)
{
	const struct {
		bool requested, available;
		void (*add)(const struct load_window *w, struct report *report);
		/* figure that the load source cannot measure, or the whole text of the note */
		const char *unmeasured, *note;
	} parts[] = {
		{w->smt, w->cores, add_cores, .unmeasured = "hyperthread siblings"},
		{w->cgroups && w->cores, w->pairs, add_pairs,
		 .note = "cgroups that share a core are unknown: a CPU came online after the start, "
			 "or the table could not be read"},
		{w->irq, w->lines, add_lines, .unmeasured = "interrupt lines"},
		{w->top, w->tasks, add_tasks, .unmeasured = "tasks"},
	};

	array_for_each(part, parts, ARRAY_SIZE(parts))
		if (part->requested && part->available)
			part->add(w, report);
		else if (part->requested && part->unmeasured)
			load_note_unmeasured(w, part->unmeasured, report);
		else if (part->requested)
			report_note(report, "%s", part->note);
}
