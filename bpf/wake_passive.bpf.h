/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Source passive: which timer ended an idle window, and how late it was. */
#ifndef SUBTICK_BPF_WAKE_PASSIVE_H
#define SUBTICK_BPF_WAKE_PASSIVE_H

#include "hist.bpf.h"
#include "wake_slot.bpf.h"

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

/* The core is about to go idle again: by now all timers that ended the last window have run. */
static __always_inline void passive_close(struct wake_slot *s, u32 cpu)
{
	struct wake_counts *c = bpf_map_lookup_elem(&counts, &cpu);
	struct wake_hist *h;
	u32 state, key;

	if (!c || !s->tbi_ns)
		return;
	if (!s->due_ns || (s->due_ns == NEVER && !s->one_irq)) {
		c->other++;
		return;
	}
	if (s->due_ns == NEVER) {
		c->early++;
		return;
	}
	if (!s->one_irq) {
		c->other_first++;
		return;
	}
	if (s->due_ns <= s->tbi_ns) {
		c->before_idle++;
		return;
	}
	state = one_state ? 0 : s->state;
	key = cpu * nr_states + state;
	h = state < nr_states ? bpf_map_lookup_elem(&hists, &key) : NULL;
	if (!h) {
		c->odd_state++;
		return;
	}
	/* wake_ns is the handler's stamp if that came before the idle exit. */
	hist_record(h, s->wake_ns - s->due_ns, s->wake_ns != s->tai_ns);
}

static __always_inline void passive_irq(struct wake_slot *s, u64 now)
{
	if (!s->wake_ns) {
		s->wake_ns = now;
	} else if (s->idle && !s->due_ns) {
		/* Still idle: the earlier interrupt did not end the idle state. */
		s->wake_ns = now;
		s->irqs = 0;
	}
}

static __always_inline void passive_expire(struct wake_slot *s, u64 due_ns)
{
	/* Woken by its flag a core runs tasks before the first interrupt: then current is a task. */
	if (!s->due_ns)
		s->one_irq = s->irqs <= 1 && !bpf_get_current_pid_tgid();
	if (due_ns > s->wake_ns)
		due_ns = NEVER;
	if (!s->due_ns || due_ns < s->due_ns)
		s->due_ns = due_ns;
}

#endif
