/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the waits of tasks by merging the trace events of all CPUs by timestamp. */
#include "stats/trace.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Heap element: the next event of a CPU. */
struct head {
	/*
	 * sort key: ns << 1, with bit 0 set for a switch, so that a wake-up precedes a switch of
	 * the same time
	 */
	uint64_t key;
	uint32_t cpu;
	size_t index;
};

struct merge {
	const struct trace_core *cores;
	struct head *heap;
	size_t nr;
};

struct task {
	uint64_t queued_ns; /* start of the wait in ns, plus 1; 0 if the task does not wait */
	uint64_t waking_ns, throttled_ns, moved_ns;
	uint32_t waker, waker_cpu, queue_cpu, moved_to;
	bool woken, throttled, runs;
};

struct finder {
	struct task *tasks;
	struct trace_waits waits;
};

static bool about_waits(const struct trace_edge *edge)
{
	enum trace_kind kind = trace_edge_kind(edge);

	return kind <= TRACE_MIGRATE || kind == TRACE_THROTTLE;
}

/*
 * Advances to the next event that starts, moves or ends a wait. Returns false after the last event
 * of the CPU.
 */
static bool head_seek(const struct merge *m, struct head *head)
{
	const struct trace_core *core = &m->cores[head->cpu];

	for (; head->index < core->nr_edges; head->index++) {
		const struct trace_edge *edge = &core->edges[head->index];

		if (!about_waits(edge))
			continue;
		head->key = trace_edge_ns(edge) << 1 | (trace_edge_kind(edge) == TRACE_SWITCH);
		return true;
	}
	return false;
}

static void sift_down(struct merge *m, size_t at)
{
	struct head head = m->heap[at];

	for (size_t child; (child = 2 * at + 1) < m->nr; at = child) {
		child += child + 1 < m->nr && m->heap[child + 1].key < m->heap[child].key;
		if (head.key <= m->heap[child].key)
			break;
		m->heap[at] = m->heap[child];
	}
	m->heap[at] = head;
}

/* Largest pid in the trace, which determines the size of the array of tasks. */
static uint32_t last_pid(const struct trace_core *cores, size_t nr_cores)
{
	uint32_t last = 0;

	array_for_each(core, cores, nr_cores)
		array_for_each(edge, core->edges, core->nr_edges) {
			if (!about_waits(edge))
				continue;
			if (TRACE_FIRST(edge->what) > last)
				last = TRACE_FIRST(edge->what);
			if (trace_edge_kind(edge) == TRACE_SWITCH && TRACE_SECOND(edge->what) > last)
				last = TRACE_SECOND(edge->what);
		}
	return last;
}

static int wait_ends(struct finder *f, struct task *task, uint32_t pid, uint32_t cpu, uint64_t now)
{
	uint64_t wait_ns = now - (task->queued_ns - 1);
	struct trace_wait wait = {
		.from_ns = task->queued_ns - 1,
		.to_ns = now,
		.pid = pid,
		.cpu = cpu,
		.queue_cpu = task->queue_cpu,
		.moved_ns = task->moved_ns && task->moved_to == cpu ? task->moved_ns : now,
		.woken = task->woken,
		.throttled = task->throttled,
		/*
		 * Limit the throttled time to the length of the wait. The measured throttled time
		 * can be longer, because the kernel uses another clock, and because throttling may
		 * begin before the wait.
		 */
		.throttled_ns = !task->throttled	       ? 0
				: task->throttled_ns < wait_ns ? task->throttled_ns
							       : wait_ns,
		.waker = task->waker,
		.waker_cpu = task->waker_cpu,
		.waking_ns = task->woken ? task->waking_ns : 0,
	};

	if (!task->queued_ns) {
		f->waits.unknown_start++;
		return 0;
	}
	f->waits.sum_ns += wait_ns;
	return array_push(f->waits.list, f->waits.nr, wait);
}

static int do_switch(struct finder *f, uint32_t cpu, const struct trace_edge *edge)
{
	uint32_t prev = TRACE_FIRST(edge->what), next = TRACE_SECOND(edge->what);
	uint64_t now = trace_edge_ns(edge);
	int rc = 0;

	if (prev)
		f->tasks[prev] = TRACE_THIRD(edge->what)
					 ? (struct task){0}
					 : (struct task){.queued_ns = now + 1,
							 .queue_cpu = cpu,
							 .throttled = edge->what & TRACE_THROTTLED};
	if (next) {
		rc = wait_ends(f, &f->tasks[next], next, cpu, now);
		f->tasks[next] = (struct task){.runs = true};
	}
	return rc;
}

static void woken_by(struct task *task, uint32_t cpu, const struct trace_edge *edge)
{
	uint32_t current = TRACE_SECOND(edge->what);

	task->waking_ns = trace_edge_ns(edge);
	task->waker = current == TRACE_NOBODY ? UINT32_MAX : current;
	task->waker_cpu = cpu;
}

static void do_waking(struct finder *f, uint32_t cpu, const struct trace_edge *edge)
{
	struct task *task = &f->tasks[TRACE_FIRST(edge->what)];

	if (!task->runs && !task->queued_ns)
		woken_by(task, cpu, edge);
}

/* Handles the migration of a task that waits or is being woken. */
static void do_migrate(struct finder *f, uint32_t cpu, const struct trace_edge *edge)
{
	struct task *task = &f->tasks[TRACE_FIRST(edge->what)];

	if (trace_edge_wakes(edge))
		do_waking(f, cpu, edge);
	task->moved_ns = task->queued_ns ? trace_edge_ns(edge) : 0;
	task->moved_to = TRACE_THIRD(edge->what);
}

/*
 * Starts the wait of a woken task. If the target CPU enqueues the task, the waker is known from the
 * TRACE_WAKING event.
 */
static void do_wakeup(struct finder *f, uint32_t cpu, struct trace_edge *edge)
{
	struct task *task = &f->tasks[TRACE_FIRST(edge->what)];

	if (trace_edge_kind(edge) == TRACE_WAKEUP_NEW)
		*task = (struct task){0};
	if (task->runs || task->queued_ns)
		return;
	task->queued_ns = trace_edge_ns(edge) + 1;
	task->queue_cpu = TRACE_THIRD(edge->what);
	task->woken = true;
	task->throttled = edge->what & TRACE_THROTTLED;
	if (!task->waking_ns) {
		woken_by(task, cpu, edge);
		if (trace_edge_kind(edge) == TRACE_WAKEUP)
			edge->what |= TRACE_WAKES;
	}
}

static int find_all(struct finder *f, struct merge *m)
{
	int rc = 0;

	while (m->nr && !rc) {
		struct head *head = &m->heap[0];
		struct trace_edge *edge = &m->cores[head->cpu].edges[head->index];

		switch (trace_edge_kind(edge)) {
		case TRACE_SWITCH:
			rc = do_switch(f, head->cpu, edge);
			break;
		case TRACE_WAKING:
			do_waking(f, head->cpu, edge);
			break;
		case TRACE_MIGRATE:
			do_migrate(f, head->cpu, edge);
			break;
		case TRACE_THROTTLE:
			f->tasks[TRACE_FIRST(edge->what)].throttled_ns =
				TRACE_THROTTLE_NS(edge->what);
			break;
		default:
			do_wakeup(f, head->cpu, edge);
		}
		head->index++;
		if (!head_seek(m, head))
			*head = m->heap[--m->nr];
		sift_down(m, 0);
	}
	return rc;
}

int trace_find_waits(const struct trace_core *cores, size_t nr_cores, struct trace_waits *ret_waits)
{
	struct merge merge = {.cores = cores, .heap = calloc(nr_cores + 1, sizeof(*merge.heap))};
	struct finder finder = {0};
	int rc = -ENOMEM;

	finder.tasks = calloc((size_t)last_pid(cores, nr_cores) + 1, sizeof(*finder.tasks));
	if (!merge.heap || !finder.tasks)
		goto out;
	for (uint32_t cpu = 0; cpu < nr_cores; cpu++) {
		struct head head = {.cpu = cpu};

		/* the task that runs at the start of the trace is not waiting */
		if (cores[cpu].first_known && cores[cpu].nr_edges &&
		    cores[cpu].first_pid <= last_pid(&cores[cpu], 1))
			finder.tasks[cores[cpu].first_pid].runs = true;
		if (head_seek(&merge, &head))
			merge.heap[merge.nr++] = head;
	}
	for (size_t i = merge.nr; i-- > 0;)
		sift_down(&merge, i);
	rc = find_all(&finder, &merge);
	if (!rc) {
		*ret_waits = finder.waits;
		finder.waits.list = NULL;
	}
out:
	free(finder.waits.list);
	free(finder.tasks);
	free(merge.heap);
	return rc;
}
