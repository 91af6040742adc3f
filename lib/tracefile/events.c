/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the records of a trace, and lists the throttled and avoidable parts of waits. */
#include "tracefile/tracefile.h"

#include "base/array.h"

/* Task state as ftrace shows it. Bits above 0xff are modifiers, such as TASK_NOLOAD. */
static uint32_t shown_state(uint32_t state)
{
	return state & 0xff ? state & 0xff : !!state << 8;
}

static struct tracefile_event decode(const struct trace_window *w, uint32_t cpu,
				     const struct trace_edge *edge)
{
	enum trace_kind kind = trace_edge_kind(edge);
	struct tracefile_event event = {
		.ns = w->start_mono_ns + trace_edge_ns(edge), .kind = kind, .cpu = cpu};

	switch (kind) {
	case TRACE_SWITCH ... TRACE_MIGRATE:
		event.pid = TRACE_FIRST(edge->what);
		event.throttled = edge->what & TRACE_THROTTLED;
		event.other = TRACE_SECOND(edge->what);
		event.arg = TRACE_THIRD(edge->what);
		if (kind == TRACE_SWITCH)
			event.arg = shown_state(event.arg);
		break;
	case TRACE_FREQUENCY:
		event.other = TRACE_THIRD(edge->what);
		event.arg = TRACE_SECOND(edge->what);
		break;
	case TRACE_IRQ_ENTER ... TRACE_VECTOR_ENTER:
		event.kind = TRACE_IRQ_ENTER;
		/* Only interrupts of devices have a line number. */
		event.arg = kind == TRACE_IRQ_ENTER ? edge->what : 0;
		event.name = trace_irq_name(w, kind, edge->what);
		break;
	case TRACE_SOFTIRQ_ENTER:
	case TRACE_SOFTIRQ_LEAVE:
		event.name = load_vec_name(edge->what);
		/* fall through */
	default:
		event.arg = edge->what;
	}
	return event;
}

void tracefile_events(const struct trace_window *w,
		      void (*on_event)(void *arg, const struct tracefile_event *event), void *arg)
{
	for (uint32_t cpu = 0; cpu < w->nr_cpus; cpu++) {
		const struct trace_core *core = &w->cpu[cpu].core;
		size_t gap = 0;

		array_for_each(edge, core->edges, core->nr_edges) {
			struct tracefile_event event = decode(w, cpu, edge), before = event;

			if (gap < core->nr_gaps && &core->edges[core->gaps[gap]] == edge) {
				gap++;
				on_event(arg,
					 &(struct tracefile_event){.ns = w->start_mono_ns +
									 trace_edge_ns(edge - 1),
								   .kind = TRACEFILE_GAP,
								   .cpu = cpu});
			}
			/* TRACE_THROTTLE only describes the wait that the next event ends. */
			if (event.kind == TRACE_THROTTLE)
				continue;
			/* Adds the start of a wake-up that has no record TRACE_WAKING. */
			if (trace_edge_wakes(edge)) {
				before.kind = TRACE_WAKING;
				before.throttled = false;
				before.arg = cpu; /* CPU of the task before the wake-up */
				on_event(arg, &before);
			}
			on_event(arg, &event);
		}
	}
}

void tracefile_parts(const struct trace_window *w,
		     void (*on_part)(void *arg, const struct tracefile_part *part), void *arg)
{
	array_for_each(wait, w->waits.list, w->waits.nr) {
		struct tracefile_part part = {
			.from_ns = w->start_mono_ns + wait->from_ns,
			.to_ns = w->start_mono_ns + wait->from_ns + wait->throttled_ns,
			.cpu = wait->cpu,
			.pid = wait->pid,
		};

		if (wait->throttled_ns)
			on_part(arg, &part);
		part.avoidable = true;
		for (size_t at = 0; at < wait->avoidable.nr_spans; at++) {
			const struct trace_span *span =
				&w->avoidable.list[wait->avoidable.first_span + at];

			part.from_ns = w->start_mono_ns + span->from_ns;
			part.to_ns = w->start_mono_ns + span->to_ns;
			on_part(arg, &part);
		}
	}
}
