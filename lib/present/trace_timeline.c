/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts the recorded events of a trace to the events of a timeline. */
#include "present/trace.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

static enum timeline_kind kind_of(enum trace_kind kind)
{
	static const enum timeline_kind kinds[TRACE_NR_KINDS] = {
		[TRACE_SWITCH] = TIMELINE_SWITCH,
		[TRACE_WAKING] = TIMELINE_WAKING,
		[TRACE_WAKEUP] = TIMELINE_WAKEUP,
		[TRACE_WAKEUP_NEW] = TIMELINE_WAKEUP_NEW,
		[TRACE_MIGRATE] = TIMELINE_MIGRATE,
		[TRACE_IRQ_ENTER] = TIMELINE_IRQ_ENTER,
		[TRACE_IPI_ENTER] = TIMELINE_IRQ_ENTER,
		[TRACE_VECTOR_ENTER] = TIMELINE_IRQ_ENTER,
		[TRACE_IRQ_LEAVE] = TIMELINE_IRQ_LEAVE,
		[TRACE_SOFTIRQ_ENTER] = TIMELINE_SOFTIRQ_ENTER,
		[TRACE_SOFTIRQ_LEAVE] = TIMELINE_SOFTIRQ_LEAVE,
		[TRACE_IDLE_ENTER] = TIMELINE_IDLE_ENTER,
		[TRACE_IDLE_LEAVE] = TIMELINE_IDLE_LEAVE,
		[TRACE_FREQUENCY] = TIMELINE_FREQUENCY,
		[TRACE_TICK] = TIMELINE_TICK,
	};

	return kinds[kind];
}

/* Task state as ftrace shows it. Bits above 0xff are modifiers, such as TASK_NOLOAD. */
static uint32_t shown_state(uint32_t state)
{
	return state & 0xff ? state & 0xff : !!state << 8;
}

static void fill(const struct trace_window *w, uint32_t cpu, const struct trace_edge *edge,
		 struct timeline_event *event)
{
	enum trace_kind kind = trace_edge_kind(edge);

	*event = (struct timeline_event){
		.ns = w->start_mono_ns + trace_edge_ns(edge),
		.kind = kind_of(kind),
		.cpu = cpu,
	};
	if (kind <= TRACE_MIGRATE) {
		event->pid = TRACE_FIRST(edge->what);
		event->held = edge->what & TRACE_THROTTLED;
		event->other = TRACE_SECOND(edge->what);
		event->arg = kind == TRACE_SWITCH ? shown_state(TRACE_THIRD(edge->what)) :
						    TRACE_THIRD(edge->what);
		return;
	}
	if (kind == TRACE_FREQUENCY) {
		event->other = TRACE_THIRD(edge->what);
		event->arg = TRACE_SECOND(edge->what);
		return;
	}
	/* Only interrupts of devices have a line number. */
	event->arg = kind == TRACE_IPI_ENTER || kind == TRACE_VECTOR_ENTER ? 0 : edge->what;
	if (event->kind == TIMELINE_IRQ_ENTER)
		event->name = trace_irq_name(w, kind, edge->what);
	else if (kind == TRACE_SOFTIRQ_ENTER || kind == TRACE_SOFTIRQ_LEAVE)
		event->name = load_vec_name(edge->what);
}

/* Adds a sched_waking event that was not recorded, at the time of the wake-up or migration. */
static void add_waking(const struct trace_window *w, uint32_t cpu, const struct trace_edge *edge,
		       struct timeline *timeline)
{
	struct timeline_event *event = &timeline->events[timeline->nr_events++];

	fill(w, cpu, edge, event);
	event->kind = TIMELINE_WAKING;
	event->held = false;
	/* CPU on which the task was before the wake-up. */
	event->arg = cpu;
}

static size_t count_events(const struct trace_core *core)
{
	size_t nr = core->nr_edges + core->nr_gaps;

	array_for_each(edge, core->edges, core->nr_edges)
		nr += trace_edge_wakes(edge);
	return nr;
}

static void add_core(const struct trace_window *w, uint32_t cpu, struct timeline *timeline)
{
	const struct trace_core *core = &w->cpu[cpu].core;
	size_t gap = 0;

	array_for_each(edge, core->edges, core->nr_edges) {
		if (gap < core->nr_gaps && &core->edges[core->gaps[gap]] == edge) {
			timeline->events[timeline->nr_events++] = (struct timeline_event){
				.ns = w->start_mono_ns + trace_edge_ns(edge - 1),
				.kind = TIMELINE_GAP,
				.cpu = cpu,
			};
			gap++;
		}
		/* A TRACE_THROTTLE event only describes the wait that the next event ends. */
		if (trace_edge_kind(edge) == TRACE_THROTTLE)
			continue;
		if (trace_edge_wakes(edge))
			add_waking(w, cpu, edge, timeline);
		fill(w, cpu, edge, &timeline->events[timeline->nr_events++]);
	}
}

static void add_holds(const struct trace_window *w, struct timeline *timeline)
{
	array_for_each(wait, w->waits.list, w->waits.nr) {
		struct timeline_hold hold = {
			.from_ns = w->start_mono_ns + wait->from_ns,
			.to_ns = w->start_mono_ns + wait->from_ns + wait->throttled_ns,
			.cpu = wait->cpu,
			.pid = wait->pid,
		};

		if (wait->throttled_ns)
			timeline->holds[timeline->nr_holds++] = hold;
		hold.avoidable = true;
		for (size_t at = 0; at < wait->avoidable.nr_spans; at++) {
			const struct trace_span *span = &w->avoidable.list[wait->avoidable.first_span + at];

			hold.from_ns = w->start_mono_ns + span->from_ns;
			hold.to_ns = w->start_mono_ns + span->to_ns;
			timeline->holds[timeline->nr_holds++] = hold;
		}
	}
}

int trace_timeline(const struct trace_window *w, struct timeline *ret_timeline)
{
	struct timeline timeline = {
		.start_ns = w->start_mono_ns,
		.end_ns = w->start_mono_ns + w->to_ns,
		.unix_ns = w->time_unix_ns,
		.lost = w->losses.edges + w->losses.recursion_misses,
		.unknown_starts = w->losses.unknown_start,
		.ended = trace_ended(w),
	};
	size_t nr = 1;

	array_for_each(cpu, w->cpu, w->nr_cpus)
		nr += count_events(&cpu->core);
	timeline.boot_ns = clock_at_ns(CLOCK_BOOTTIME, timeline.end_ns);
	timeline.events = calloc(nr, sizeof(*timeline.events));
	timeline.tasks = calloc(w->nr_names + 1, sizeof(*timeline.tasks));
	timeline.holds = calloc(w->waits.nr + w->avoidable.nr + 1, sizeof(*timeline.holds));
	if (!timeline.events || !timeline.tasks || !timeline.holds ||
	    (w->event && !timeline.ended)) {
		trace_timeline_free(&timeline);
		return -ENOMEM;
	}
	for (size_t cpu = 0; cpu < w->nr_cpus; cpu++)
		add_core(w, cpu, &timeline);
	add_holds(w, &timeline);
	array_for_each(name, w->names, w->nr_names)
		timeline.tasks[timeline.nr_tasks++] = (struct timeline_task){
			.pid = name->pid, .tgid = name->tgid, .comm = name->comm};
	*ret_timeline = timeline;
	return 0;
}

void trace_timeline_free(struct timeline *timeline)
{
	free(timeline->events);
	free(timeline->tasks);
	free(timeline->holds);
	free(timeline->slices);
	free(timeline->waits);
	free(timeline->ended);
	*timeline = (struct timeline){0};
}
