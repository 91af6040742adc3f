/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hardirq entry and exit. */
#ifndef SUBTICK_BPF_LOAD_HIRQ_H
#define SUBTICK_BPF_LOAD_HIRQ_H

#include "load_smt.bpf.h"
#include "wake_passive.bpf.h"

/*
 * Ends the interval of a hardirq handler whose exit event was lost. hirq_heal() is called at a task
 * switch, because no hardirq handler runs during a task switch.
 */
static __noinline void hirq_heal(struct load_slot *s, u64 now)
{
	u64 hirq = s->hirq;

	now = after(now, hirq);
	s->hirq_out_ns += now - (hirq >> 8);
	s->hirq = now << 8;
	s->odd_edges++;
}

/* Does the work of rarely used load options at hardirq entry. */
static __noinline int hirq_notes(struct load_slot *s, u64 now)
{
	if (FILLED(LOAD_FILLED_CORES))
		smt_edge(s, now, true);
	/*
	 * The scheduler tick is a hardirq, so a sample of the cycle counter is at most one tick old
	 * on a busy core.
	 */
	if (FILLED(LOAD_FILLED_PMU))
		pmu_sample(s, now);
	return 0;
}

/*
 * Handles a hardirq that is the first event of a core. The core was halted if its current task is
 * the idle task.
 */
static __noinline int hirq_first(struct load_slot *s, u64 now)
{
	u32 ctx = current_ctx();

	base_first(s, ctx == LOAD_LOOP ? first_idle : ctx);
	base_move(s, now, ctx == LOAD_LOOP ? LOAD_TAIL : ctx);
	burst_begin(s, now);
	return FILLED(LOAD_FILLED_CORES) || FILLED(LOAD_FILLED_PMU) ? hirq_notes(s, now) : 0;
}

/* @now is CLOCK_MONOTONIC. @action is unused for x86 vectors, which have no struct irqaction. */
static __always_inline int hirq_enter(struct load_slot *s, u64 now, struct irqaction *action, bool vector)
{
	u64 hirq, base;

	if (FILLED_FLAG(LOAD_FILLED_WAKE) && (vector || !same_interrupt(&s->wake, action)))
		passive_irq(&s->wake, now, base_ctx(s) <= LOAD_POLL);
	now -= s->start_ns;
	if (before_start(now))
		return 0;
	hirq = s->hirq;
	if (hirq & 0xff) {
		/*
		 * Handlers are nested if a demultiplexing handler, for example of a GPIO
		 * controller, calls other handlers.
		 */
		s->hirq = hirq + 1;
		return 0;
	}
	now = after(now, hirq);
	s->hirq_out_ns += now - (hirq >> 8);
	s->hirq = now << 8 | 1;

	base = s->base;
	/* if s->moving is set, the interrupted program sets the context */
	if ((base & 0xff) <= LOAD_TAIL && !s->moving) {
		if (!base)
			return hirq_first(s, now);
		if ((base & 0xff) == LOAD_HALT) {
			/*
			 * The interrupt woke the halted core. If the handler runs before the idle
			 * exit event (x86: sti; hlt), the idle time ends at the entry of the
			 * handler.
			 */
			base_move_from(s, base, now, LOAD_HALT, LOAD_TAIL);
			burst_begin(s, now);
		} else {
			/*
			 * The core had no idle exit since the previous interrupt, so the core
			 * halted again after the previous interrupt.
			 */
			u64 since = base >> 8 > hirq >> 8 ? base >> 8 : hirq >> 8;

			if (since <= now) {
				s->base_ns[LOAD_TAIL] += since - (base >> 8);
				s->base_ns[LOAD_HALT] += now - since;
				s->base = now << 8 | LOAD_TAIL;
			}
		}
	}
	if (FILLED(LOAD_FILLED_CORES) || FILLED(LOAD_FILLED_PMU))
		hirq_notes(s, now);
	return 0;
}

/* Handles the exit of a nested hardirq handler, or of a handler whose entry was not recorded. */
static __noinline int hirq_leave_other(struct load_slot *s, u64 now)
{
	u64 hirq = s->hirq;

	if (hirq & 0xff) {
		s->hirq = hirq - 1;
		return 0;
	}
	if (hirq) {
		s->odd_edges++;
		return 0;
	}
	if (!s->base) {
		/* The hardirq handler began before the measurement. */
		u32 ctx = current_ctx();

		base_first(s, ctx);
		base_move(s, now, ctx);
		s->hirq_ns[ctx & (LOAD_NR_CTX - 1)] += now;
		s->hirq_in_ns += now;
	} else {
		/*
		 * This core recorded events before the handler began, so the entry event of the
		 * handler was lost.
		 */
		s->hirq_out_ns += now;
		s->odd_edges++;
	}
	s->hirq = now << 8;
	return 0;
}

/* @now is CLOCK_MONOTONIC. */
static __always_inline int hirq_leave(struct load_slot *s, u64 now)
{
	u64 hirq, ns, ctx;

	now -= s->start_ns;
	if (before_start(now))
		return 0;
	hirq = s->hirq;
	if ((hirq & 0xff) != 1)
		return hirq_leave_other(s, now);
	now = after(now, hirq);
	ns = now - (hirq >> 8);
	/*
	 * If the hardirq interrupted a program that was updating the context, the hardirq time is
	 * added to the new context, because the interrupted program had already read the clock.
	 */
	ctx = s->moving ? s->moving - 1 : s->base;
	s->hirq_ns[ctx & (LOAD_NR_CTX - 1)] += ns;
	s->hirq_in_ns += ns;
	s->hirq = now << 8;
	if (FILLED(LOAD_FILLED_CORES))
		smt_after(s, s->hirq >> 8);
	return 0;
}

#endif
