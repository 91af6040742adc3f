/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the contexts of one CPU from its trace events, as `subtick load --source bpf` does. */
#include "stats/trace.h"

#include "base/array.h"

#define NR_PAUSED 16

enum window {
	RUNS,
	HALTED,
	POLLS,
	/* an interrupt ended the halt; the next event shows whether the CPU halted again */
	WOKEN,
};

struct state {
	uint64_t now;
	/* true if the context (task, softirq or idle) below the interrupt handlers is known */
	bool known;
	uint32_t pid;
	bool softirqd; /* the current task is ksoftirqd or a NAPI thread */
	enum window window;
	uint32_t idle_state;
	unsigned int depth; /* nesting depth of interrupt handlers */
	struct trace_edge handler;
	uint32_t vec; /* vector of the running softirq plus 1, or 0 */
	struct paused {
		uint32_t pid, vec;
	} paused[NR_PAUSED]; /* preempted softirqs (PREEMPT_RT) */
	uint64_t odd;
};

/*
 * Returns the context of the CPU until the next event. @halts must be true if the next event shows
 * that a woken CPU halted again.
 */
static enum load_part part_of(const struct state *s, bool halts)
{
	if (s->depth)
		return LOAD_PART_HARDIRQ;
	if (!s->known)
		return LOAD_PART_UNKNOWN;
	if (s->softirqd)
		return LOAD_PART_KSOFTIRQD;
	if (s->vec)
		return s->pid ? LOAD_PART_SOFTIRQ_ON_TASK : LOAD_PART_SOFTIRQ_ON_IDLE;
	if (s->window == HALTED || (s->window == WOKEN && halts))
		return LOAD_PART_IDLE;
	if (s->window == POLLS)
		return LOAD_PART_POLL_IDLE;
	return s->pid ? LOAD_PART_TASK : LOAD_PART_IDLE_LOOP;
}

static void softirq_pause(struct state *s)
{
	int i = 0;

	while (i < NR_PAUSED && s->paused[i].vec)
		i++;
	if (i < NR_PAUSED)
		s->paused[i] = (struct paused){s->pid, s->vec};
	else
		s->odd++;
	s->vec = 0;
}

static void softirq_resume(struct state *s)
{
	array_for_each(paused, s->paused, NR_PAUSED) {
		if (!paused->vec || paused->pid != s->pid)
			continue;
		s->vec = paused->vec;
		paused->vec = 0;
		return;
	}
}

static void do_switch(struct state *s, uint32_t next)
{
	/* an interrupt handler cannot switch tasks, so the exit event of the handler was lost */
	if (s->depth) {
		s->depth = 0;
		s->odd++;
	}
	if (s->vec)
		softirq_pause(s);
	s->known = true;
	s->window = RUNS;
	s->pid = next;
	if (next)
		softirq_resume(s);
}

static void do_idle(struct state *s, enum window window, uint64_t state)
{
	/* idle entry and exit events prove that the idle task is current */
	s->known = true;
	s->pid = 0;
	s->softirqd = false;
	s->window = window;
	s->idle_state = state;
}

static void do_irq_leave(struct state *s)
{
	if (!s->depth) {
		/* the entry event of the interrupt may be missing after a gap in the recording */
		s->odd += s->known;
		return;
	}
	s->depth--;
	if (!s->depth && s->window == HALTED)
		s->window = WOKEN;
}

static void do_softirq(struct state *s, enum trace_kind kind, uint32_t vec)
{
	if (kind == TRACE_SOFTIRQ_ENTER) {
		s->odd += s->known && s->vec;
		s->vec = vec + 1;
		/* an interrupt without a trace event woke the CPU */
		if (s->window == HALTED)
			s->window = WOKEN;
	} else {
		s->odd += s->known && s->vec != vec + 1;
		s->vec = 0;
	}
}

static void apply(struct state *s, const struct trace_core *core, const struct trace_edge *edge)
{
	enum trace_kind kind = trace_edge_kind(edge);

	switch (kind) {
	case TRACE_SWITCH:
		do_switch(s, TRACE_SECOND(edge->what));
		break;
	case TRACE_IDLE_ENTER:
		do_idle(s,
			edge->what < 64 && core->poll_states >> edge->what & 1 ? POLLS : HALTED,
			edge->what);
		break;
	case TRACE_IDLE_LEAVE:
		do_idle(s, RUNS, 0);
		break;
	case TRACE_IRQ_ENTER:
	case TRACE_IPI_ENTER:
	case TRACE_VECTOR_ENTER:
		/*
		 * an IPI event replaces the entry event of the handler, because only the IPI event
		 * has a reason
		 */
		if (!s->depth++ || kind == TRACE_IPI_ENTER)
			s->handler = *edge;
		break;
	case TRACE_IRQ_LEAVE:
		do_irq_leave(s);
		break;
	case TRACE_SOFTIRQ_ENTER:
	case TRACE_SOFTIRQ_LEAVE:
		do_softirq(s, kind, edge->what);
		break;
	default:
		break;
	}
}

/* True if the event changes the context of the CPU; false for wake-ups and migrations. */
static bool changes_context(enum trace_kind kind)
{
	return kind == TRACE_SWITCH || (kind >= TRACE_IRQ_ENTER && kind <= TRACE_IDLE_LEAVE);
}

static bool enters_irq(enum trace_kind kind)
{
	return kind >= TRACE_IRQ_ENTER && kind <= TRACE_VECTOR_ENTER;
}

static void pass(struct state *s, uint64_t to_ns, bool halts, trace_on_slice *on_slice, void *arg,
		 struct trace_replay *replay)
{
	struct trace_slice slice = {.from_ns = s->now, .to_ns = to_ns, .part = part_of(s, halts),
				    .pid = s->known ? s->pid : 0};

	if (to_ns <= s->now)
		return;
	switch (slice.part) {
	case LOAD_PART_HARDIRQ:
		slice.kind = trace_edge_kind(&s->handler);
		slice.what = s->handler.what;
		break;
	case LOAD_PART_SOFTIRQ_ON_IDLE:
	case LOAD_PART_SOFTIRQ_ON_TASK:
		slice.what = s->vec - 1;
		break;
	default:
		slice.what = s->idle_state;
	}
	replay->part_ns[slice.part] += to_ns - s->now;
	s->now = to_ns;
	if (on_slice)
		on_slice(arg, &slice);
}

/* Returns the state of the CPU before its first event, derived from the first event. */
static struct state first_state(const struct trace_core *core)
{
	struct state s = {.now = core->from_ns, .known = core->first_known, .pid = core->first_pid};
	const struct trace_edge *edge = core->edges, *end = edge + core->nr_edges;
	enum trace_kind kind;

	while (edge < end && !changes_context(trace_edge_kind(edge)))
		edge++;
	kind = edge < end ? trace_edge_kind(edge) : TRACE_IDLE_LEAVE;
	if (!s.known)
		return s;
	/* if the first event ends a halt, the idle CPU was halted before */
	if (!s.pid && (kind == TRACE_IDLE_LEAVE || enters_irq(kind)))
		s.window = HALTED;
	if (kind == TRACE_IRQ_LEAVE) {
		s.depth = 1;
		s.handler = *edge;
	} else if (kind == TRACE_SOFTIRQ_LEAVE) {
		s.vec = edge->what + 1;
	}
	return s;
}

void trace_replay(const struct trace_core *core, trace_is_softirqd *is_softirqd,
		  trace_on_slice *on_slice, void *arg, struct trace_replay *ret_replay)
{
	struct state s = first_state(core);
	size_t gap = 0;

	*ret_replay = (struct trace_replay){0};
	s.softirqd = s.known && s.pid && is_softirqd(arg, s.pid);
	for (size_t i = 0; i < core->nr_edges; i++) {
		const struct trace_edge *edge = &core->edges[i];
		enum trace_kind kind = trace_edge_kind(edge);

		if (gap < core->nr_gaps && core->gaps[gap] == i) {
			s = (struct state){.now = s.now, .odd = s.odd};
			gap++;
		}
		if (!changes_context(kind))
			continue;
		pass(&s, trace_edge_ns(edge), enters_irq(kind), on_slice, arg, ret_replay);
		apply(&s, core, edge);
		if (kind == TRACE_SWITCH)
			s.softirqd = s.pid && is_softirqd(arg, s.pid);
	}
	pass(&s, core->to_ns, true, on_slice, arg, ret_replay);
	ret_replay->odd_edges = s.odd;
}
