/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures the time in which a CPU and its hyperthread sibling are both busy: see struct load_smt.
 */
#ifndef SUBTICK_BPF_LOAD_SMT_H
#define SUBTICK_BPF_LOAD_SMT_H

#include "load_slot.bpf.h"

/* Returns the struct load_smt of a slot, which is the first member of its per-core block. */
static __always_inline struct load_smt *smt_of(struct load_slot *s)
{
	return &((struct core_block *)s)->smt;
}

/* Decodes @word, `busy` or `both` of struct load_smt. @now is the time by the clock of @word. */
static __always_inline u64 smt_time(u64 word, u64 now)
{
	return ((s64)word >> 1) + (word & 1 ? now : 0);
}

static __always_inline u64 smt_busy_ns(const struct load_smt *smt, u64 now)
{
	u64 word = smt->busy;

	return smt_time(word ? word : smt->seed, now);
}

/*
 * Records that the CPU becomes busy or idle at @now. A second call of smt_edge() with the same
 * @busy has no effect.
 */
static __noinline int smt_edge(struct load_slot *s, u64 now, bool busy)
{
	struct load_smt *own = smt_of(s);
	u64 other = smt_busy_ns(&core_at(own->sibling)->smt, now), word = own->busy;

	if (own->moving)
		return 0;
	/* a CPU whose first recorded change is to idle was busy since the start */
	if (!word && (!busy || own->seed))
		own->busy = own->both = word = 1;
	if (busy == (word & 1))
		return 0;
	own->moving = 1;
	barrier();
	if (busy) {
		own->busy = word + 1 - 2 * now;
		own->both += 1 - 2 * other;
	} else {
		own->was_busy = word;
		own->was_both = own->both;
		own->busy = word - 1 + 2 * now;
		own->both += 2 * other - 1;
	}
	barrier();
	own->moving = 0;
	return 0;
}

/*
 * Handles the end of a hardirq handler or softirq. If the hardirq or softirq interrupted the idle
 * task, the CPU may halt or poll again.
 */
static __noinline int smt_after(struct load_slot *s, u64 now)
{
	u32 ctx = base_ctx(s);

	if (!s->moving && (ctx == LOAD_TAIL || ctx == LOAD_POLL))
		smt_edge(s, now, false);
	return 0;
}

#endif
