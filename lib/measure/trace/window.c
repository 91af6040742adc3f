/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computes slices, waits, sums per task and the text lines trace_cpu.line from the records of a
 * trace. A slice is an interval in which a core is in one context.
 */
#include "measure/trace/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int trace_by_pid(const void *a, const void *b)
{
	return CMP(*(const uint32_t *)a, *(const uint32_t *)b);
}

const struct trace_task *trace_name(const struct trace_window *w, uint32_t pid)
{
	return w->nr_names ? bsearch(&pid, w->names, w->nr_names, sizeof(*w->names), trace_by_pid)
			   : NULL;
}

const char *trace_comm(const struct trace_window *w, uint32_t pid)
{
	const struct trace_task *name = trace_name(w, pid);

	return !pid ? "idle" : name ? name->comm : "";
}

const struct trace_irq *trace_find_irq(const struct trace_window *w, enum trace_kind kind,
				       uint64_t what)
{
	for (size_t i = 0; i < w->nr_irqs; i++)
		if (w->irqs[i].kind == kind && w->irqs[i].what == what)
			return &w->irqs[i];
	return NULL;
}

const char *trace_irq_name(const struct trace_window *w, enum trace_kind kind, uint64_t what)
{
	const struct trace_irq *irq = trace_find_irq(w, kind, what);

	return irq ? irq->name : "";
}

uint64_t trace_ticks(const struct trace_cpu *cpu)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i < cpu->core.nr_edges; i++)
		ticks += trace_edge_kind(&cpu->core.edges[i]) == TRACE_TICK;
	return ticks;
}

uint32_t trace_last_khz(const struct trace_window *w, uint32_t cpu)
{
	uint64_t last_ns = 0;
	uint32_t khz = 0;

	for (size_t by = 0; by < w->nr_cpus; by++)
		array_for_each(edge, w->cpu[by].core.edges, w->cpu[by].core.nr_edges) {
			if (trace_edge_kind(edge) != TRACE_FREQUENCY || TRACE_THIRD(edge->what) != cpu ||
			    trace_edge_ns(edge) < last_ns)
				continue;
			last_ns = trace_edge_ns(edge);
			khz = TRACE_SECOND(edge->what);
		}
	return khz;
}

static const char part_marks[LOAD_NR_PARTS] = {
	[LOAD_PART_TASK] = '#',		   [LOAD_PART_HARDIRQ] = 'i',
	[LOAD_PART_SOFTIRQ_ON_IDLE] = 's', [LOAD_PART_SOFTIRQ_ON_TASK] = 's',
	[LOAD_PART_KSOFTIRQD] = 'k',	   [LOAD_PART_IDLE_LOOP] = 'l',
	[LOAD_PART_STEAL] = ' ',	   [LOAD_PART_UNKNOWN] = '?',
	[LOAD_PART_POLL_IDLE] = 'p',	   [LOAD_PART_IDLE] = '.',
};

struct filler {
	struct trace_window *w;
	struct trace_cpu *cpu;
	int rc;
};

/*
 * Kernel threads that execute softirqs, with the names that the BPF programs of `subtick load` use.
 */
static bool is_softirqd(void *arg, uint32_t pid)
{
	const struct trace_task *name = trace_name(((struct filler *)arg)->w, pid);

	return name && name->kthread &&
	       (!strncmp(name->comm, "ksofti", 6) || !strncmp(name->comm, "napi/", 5) ||
		!strncmp(name->comm, "backlog_", 8));
}

static void on_slice(void *arg, const struct trace_slice *slice)
{
	struct filler *f = arg;

	if (array_push(f->cpu->slices, f->cpu->nr_slices, *slice))
		f->rc = -ENOMEM;
}

/* Draws the picture of a core; see struct trace_cpu. */
static void draw(const struct trace_window *w, struct trace_cpu *cpu)
{
	uint64_t span = w->to_ns - w->from_ns;
	size_t slice = 0;

	for (int i = 0; i < TRACE_LINE_LEN; i++) {
		uint64_t from = w->from_ns + span * i / TRACE_LINE_LEN;
		uint64_t to = w->from_ns + span * (i + 1) / TRACE_LINE_LEN, most = 0;
		uint64_t part_ns[LOAD_NR_PARTS] = {0};

		cpu->line[i] = part_marks[LOAD_PART_UNKNOWN];
		while (slice < cpu->nr_slices && cpu->slices[slice].to_ns <= from)
			slice++;
		for (size_t at = slice; at < cpu->nr_slices && cpu->slices[at].from_ns < to; at++) {
			const struct trace_slice *s = &cpu->slices[at];
			uint64_t begin = s->from_ns > from ? s->from_ns : from;
			uint64_t end = s->to_ns < to ? s->to_ns : to;

			part_ns[s->part] += end - begin;
			if (part_ns[s->part] > most) {
				most = part_ns[s->part];
				cpu->line[i] = part_marks[s->part];
			}
		}
	}
	cpu->line[TRACE_LINE_LEN] = '\0';
}

size_t trace_slice_at(const struct trace_cpu *cpu, uint64_t ns)
{
	return array_above(cpu->slices, cpu->nr_slices, sizeof(*cpu->slices),
			   offsetof(struct trace_slice, to_ns), ns);
}

#define MAX_RIVALS 64

/*
 * Adds the run time of a task to the list of tasks that ran during a wait. If the list already has
 * MAX_RIVALS tasks, ignores a task that is not in the list.
 */
static void add_rival(struct trace_chain *chain, uint32_t *pids, uint64_t *ns, size_t *nr, uint32_t pid,
		      uint64_t add)
{
	size_t i = 0;

	while (i < *nr && pids[i] != pid)
		i++;
	if (i == MAX_RIVALS)
		return;
	if (i == *nr) {
		pids[(*nr)++] = pid;
		ns[i] = 0;
	}
	ns[i] += add;
	if (ns[i] > chain->culprit_ns) {
		chain->culprit_ns = ns[i];
		chain->culprit = pid;
	}
}

void trace_wait_chain(const struct trace_window *w, const struct trace_wait *wait,
		      struct trace_chain *ret_chain)
{
	const struct trace_cpu *cpu = &w->cpu[wait->cpu];
	uint32_t pids[MAX_RIVALS];
	uint64_t ns[MAX_RIVALS];
	size_t nr = 0;
	uint64_t *const sums[LOAD_NR_PARTS] = {
		[LOAD_PART_HARDIRQ] = &ret_chain->irq_ns,
		[LOAD_PART_SOFTIRQ_ON_IDLE] = &ret_chain->softirq_ns,
		[LOAD_PART_SOFTIRQ_ON_TASK] = &ret_chain->softirq_ns,
		[LOAD_PART_IDLE] = &ret_chain->idle_ns,
		[LOAD_PART_POLL_IDLE] = &ret_chain->idle_ns,
		[LOAD_PART_IDLE_LOOP] = &ret_chain->idle_ns,
	};

	*ret_chain = (struct trace_chain){.culprit = UINT32_MAX};
	for (size_t at = trace_slice_at(cpu, wait->from_ns);
	     at < cpu->nr_slices && cpu->slices[at].from_ns < wait->to_ns; at++) {
		const struct trace_slice *s = &cpu->slices[at];
		uint64_t from = s->from_ns > wait->from_ns ? s->from_ns : wait->from_ns;
		uint64_t to = s->to_ns < wait->to_ns ? s->to_ns : wait->to_ns;

		if (s->part == LOAD_PART_TASK || s->part == LOAD_PART_KSOFTIRQD)
			add_rival(ret_chain, pids, ns, &nr, s->pid, to - from);
		else if (sums[s->part])
			*sums[s->part] += to - from;
	}
}

static int longest_first(const void *a, const void *b)
{
	const struct trace_wait *left = a, *right = b;

	return CMP(right->to_ns - right->from_ns, left->to_ns - left->from_ns) ?:
	       CMP(left->to_ns, right->to_ns);
}

int trace_longest_waits(const struct trace_window *w, size_t max, struct trace_wait **ret_list,
			size_t *ret_nr)
{
	struct trace_wait *list = calloc(w->waits.nr + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	if (w->waits.nr)
		memcpy(list, w->waits.list, w->waits.nr * sizeof(*list));
	qsort(list, w->waits.nr, sizeof(*list), longest_first);
	*ret_list = list;
	*ret_nr = max && max < w->waits.nr ? max : w->waits.nr;
	return 0;
}

static int sum_by_wait(const void *a, const void *b)
{
	const struct trace_task_sum *left = a, *right = b;

	return CMP(right->wait_ns, left->wait_ns) ?: CMP(right->run_ns, left->run_ns) ?:
	       trace_by_pid(a, b);
}

static void add_sum(void *to, const void *from)
{
	const struct trace_task_sum *more = from;
	struct trace_task_sum *sum = to;

	sum->run_ns += more->run_ns;
	sum->waits += more->waits;
	sum->wait_ns += more->wait_ns;
	sum->avoidable_ns += more->avoidable_ns;
	if (more->max_ns > sum->max_ns)
		sum->max_ns = more->max_ns;
}

/*
 * Sums run time and wait time per task: creates one entry per slice and per wait, and merges the
 * entries of each task.
 */
static int sum_tasks(struct trace_window *w)
{
	int rc = 0;

	for (size_t cpu = 0; cpu < w->nr_cpus; cpu++)
		for (size_t i = 0; i < w->cpu[cpu].nr_slices && !rc; i++) {
			const struct trace_slice *s = &w->cpu[cpu].slices[i];

			if (s->part == LOAD_PART_TASK || s->part == LOAD_PART_KSOFTIRQD)
				rc = array_push(w->tasks, w->nr_tasks,
					       (struct trace_task_sum){
						       .pid = s->pid,
						       .run_ns = s->to_ns - s->from_ns});
		}
	for (size_t i = 0; i < w->waits.nr && !rc; i++) {
		const struct trace_wait *wait = &w->waits.list[i];
		uint64_t ns = wait->to_ns - wait->from_ns;

		rc = array_push(w->tasks, w->nr_tasks,
			       (struct trace_task_sum){.pid = wait->pid,
						       .waits = 1,
						       .wait_ns = ns,
						       .max_ns = ns,
						       .avoidable_ns = wait->avoidable.ns});
	}
	if (rc || !w->nr_tasks)
		return rc;
	w->nr_tasks = array_merge(w->tasks, w->nr_tasks, sizeof(*w->tasks), trace_by_pid, add_sum);
	qsort(w->tasks, w->nr_tasks, sizeof(*w->tasks), sum_by_wait);
	return 0;
}

/*
 * Sets *@ret_allowed to the CPUs that the task may use and that are recorded and online. Returns
 * false if the allowed CPUs of the task are unknown.
 */
static bool allowed_cpus(const struct trace_window *w, uint32_t pid, struct cpuset *ret_allowed)
{
	const struct trace_task *name = trace_name(w, pid);
	const struct trace_mask *mask = NULL;
	struct cpuset allowed = {{0}};

	if (!name || !name->nr_allowed)
		return false;
	if (w->nr_masks)
		mask = bsearch(&pid, w->masks, w->nr_masks, sizeof(*w->masks), trace_by_pid);
	if (mask)
		allowed = mask->allowed;
	else if (name->nr_allowed == (uint32_t)__builtin_popcountll(name->allowed))
		allowed.bits[0] = name->allowed;
	else
		allowed = w->online;
	cpuset_and(&allowed, &w->online);
	cpuset_and(&allowed, &w->cpus);
	*ret_allowed = allowed;
	return true;
}

static int find_avoidable(struct trace_window *w)
{
	struct trace_spans *idle = calloc(w->nr_cpus, sizeof(*idle));
	struct cpuset allowed;
	int rc = idle ? 0 : -ENOMEM;

	cpuset_for_each(cpu, &w->cpus)
		if (!rc)
			rc = trace_find_idle(&w->cpu[cpu].core, &idle[cpu]);
	for (size_t i = 0; i < w->waits.nr && !rc; i++) {
		struct trace_wait *wait = &w->waits.list[i];
		bool known = allowed_cpus(w, wait->pid, &allowed);

		rc = trace_find_avoidable(idle, w->nr_cpus, known ? &allowed : NULL, &w->avoidable, wait);
		w->avoidable_ns += wait->avoidable.ns;
		w->avoidable_unknown += !wait->avoidable.known;
	}
	for (size_t i = 0; idle && i < w->nr_cpus; i++)
		free(idle[i].list);
	free(idle);
	return rc;
}

int trace_window_fill(struct trace_window *w)
{
	struct trace_core *cores = calloc(w->nr_cpus, sizeof(*cores));
	struct filler f = {.w = w};
	int rc;

	if (!cores)
		return -ENOMEM;
	w->from_ns = UINT64_MAX;
	w->to_ns = 0;
	for (size_t cpu = 0; cpu < w->nr_cpus; cpu++)
		cores[cpu] = w->cpu[cpu].core;
	cpuset_for_each(cpu, &w->cpus) {
		f.cpu = &w->cpu[cpu];
		trace_replay(&f.cpu->core, is_softirqd, on_slice, &f, &f.cpu->replay);
		w->losses.odd_edges += f.cpu->replay.odd_edges;
		if (f.cpu->core.from_ns < w->from_ns)
			w->from_ns = f.cpu->core.from_ns;
		if (f.cpu->core.to_ns > w->to_ns)
			w->to_ns = f.cpu->core.to_ns;
	}
	cpuset_for_each(cpu, &w->cpus)
		draw(w, &w->cpu[cpu]);
	rc = f.rc ?: trace_find_waits(cores, w->nr_cpus, &w->waits);
	w->losses.unknown_start = w->waits.unknown_start;
	free(cores);
	return rc ?: find_avoidable(w) ?: sum_tasks(w);
}

void trace_window_free(struct trace_window *w)
{
	for (size_t i = 0; i < w->nr_cpus; i++) {
		free(w->cpu[i].slices);
		free(w->cpu[i].core.edges);
		free(w->cpu[i].core.gaps);
	}
	free(w->cpu);
	free(w->waits.list);
	free(w->avoidable.list);
	free(w->names);
	free(w->masks);
	free(w->irqs);
	free(w->tasks);
	*w = (struct trace_window){0};
}
