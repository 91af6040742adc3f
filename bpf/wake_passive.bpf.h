/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Source passive of wake: finds the timer that ended an idle period, and computes its latency. */
#ifndef SUBTICK_BPF_WAKE_PASSIVE_H
#define SUBTICK_BPF_WAKE_PASSIVE_H

#include "kernel.bpf.h"
#include "hist.bpf.h"
#include "map.bpf.h"
#include "abi/wake.h"

MAPPED_ARRAY(hists, struct wake_hist);

#define NEVER (~0ull)

static __always_inline void hist_record(struct wake_hist *h, u64 ns, bool inside)
{
	u64 unit = (ns < WAKE_SQ_MAX_NS ? ns : WAKE_SQ_MAX_NS) / WAKE_SQ_UNIT;

	h->count[hist_bucket(ns) & (HIST_NR - 1)]++;
	h->sum_ns += ns;
	h->sum_units += unit;
	h->sum_sq += unit * unit;
	h->inside += inside;
	if (ns > h->max_ns)
		h->max_ns = ns;
	if (!h->min_ns || ns < h->min_ns)
		h->min_ns = ns ? ns : 1;
}

/*
 * Counts an idle period that has ended: in a histogram if a timer ended the period, otherwise in a
 * member of @c. Each CPU has @nr_states histograms, or one histogram if the machine has no cpuidle
 * driver.
 */
static __always_inline int passive_timer(struct wake_idle *s, struct wake_counts *c, u32 nr_states,
					 bool one_state)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct wake_hist *h;
	u32 state, key;

	if (s->due_ns == NEVER) {
		if (s->one_irq)
			c->early++;
		else
			c->other++;
		return 0;
	}
	if (!s->one_irq) {
		c->other_first++;
		return 0;
	}
	if (s->due_ns <= s->tbi_ns) {
		c->before_idle++;
		return 0;
	}
	state = one_state ? 0 : s->state;
	key = cpu * nr_states + state;
	h = state < nr_states ? bpf_map_lookup_elem(&hists, &key) : NULL;
	if (!h) {
		c->odd_state++;
		return 0;
	}
	/* wake_ns differs from tai_ns if the interrupt handler ran before the idle exit */
	hist_record(h, s->wake_ns - s->due_ns, s->wake_ns != s->tai_ns);
	return 0;
}

/* Ends an idle period at the idle exit, unless an interrupt has already ended the period. */
static __always_inline void passive_exit(struct wake_idle *s, u64 now)
{
	if (!s->wake_ns)
		s->wake_ns = s->tai_ns = now;
}

/* Returns true if @action is not the first handler of an interrupt on a shared interrupt line. */
static __always_inline bool same_interrupt(struct wake_idle *s, struct irqaction *action)
{
	bool same = s->next_handler && s->next_handler == (u32)(u64)action;

	s->next_handler = (u64)action->next;
	return same;
}

/* Counts interrupts since the end of the idle period, including nested handlers. */
static __always_inline void passive_irq(struct wake_idle *s, u64 now, bool idle)
{
	/*
	 * If the CPU stayed idle after an earlier interrupt, the earlier interrupt did not end the
	 * idle period, and counting begins again with the current interrupt.
	 */
	if (!s->wake_ns || (idle && !s->due_ns)) {
		s->wake_ns = now;
		s->irqs = 1;
	} else {
		s->irqs++;
	}
}

/* Returns the expiry time of a timer, converted to CLOCK_MONOTONIC. */
static __always_inline u64 timer_due(struct hrtimer *timer)
{
	return timer->node.expires - timer->base->offset;
}

static __always_inline void passive_expire(struct wake_idle *s, u64 due_ns)
{
	/* if the first interrupt interrupts a task, need_resched woke the core, not the timer */
	if (!s->due_ns)
		s->one_irq = s->irqs <= 1 && !bpf_get_current_pid_tgid();
	if (due_ns > s->wake_ns)
		due_ns = NEVER;
	if (!s->due_ns || due_ns < s->due_ns)
		s->due_ns = due_ns;
}

#endif
