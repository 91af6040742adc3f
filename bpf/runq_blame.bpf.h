/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Charges the time of a wait to the group that had the core. */
#ifndef SUBTICK_BPF_RUNQ_BLAME_H
#define SUBTICK_BPF_RUNQ_BLAME_H

#include "runq_slots.bpf.h"

/*
 * A global function is verified once and on its own, not again on every path that leads to it. It
 * takes numbers only: kernels before 5.12 allow no pointers there.
 */
__noinline int blame_add(u64 victim, u64 culprit, u64 ns, u32 cpu)
{
	struct runq_pair pair = {.victim = victim, .culprit = culprit};
	struct runq_charge *charge;

	/* Tested here: a test in the walk doubles the paths through it at each step. */
	if (!victim || !ns)
		return 0;
	charge = bpf_map_lookup_elem(&blame, &pair);
	if (!charge) {
		struct runq_charge none = {};

		bpf_map_update_elem(&blame, &pair, &none, BPF_NOEXIST);
		charge = bpf_map_lookup_elem(&blame, &pair);
	}
	if (!charge) {
		u64 at = cpu;

		/* User space has made this entry, so that it exists when nothing else fits. */
		asm volatile("" : "+r"(at));
		if (at < layout.cpus)
			cpu_at(at)->blame_full++;
		pair.victim = pair.culprit = RUNQ_KEY_OTHER;
		charge = bpf_map_lookup_elem(&blame, &pair);
	}
	if (!charge)
		return 0;
	__sync_fetch_and_add(&charge->wait_ns, ns);
	__sync_fetch_and_add(&charge->count, 1);
	return 0;
}

static __always_inline u64 key_of(u32 who)
{
	void *slot;

	if (who >= RUNQ_WHO_QUOTA)
		return (u64)(s64)(s32)who;
	slot = who ? slot_get(who) : NULL;
	return slot ? slot_head(slot)->key : RUNQ_KEY_OTHER;
}

/* Global: inlined in every step of the walk it would be too much for some verifiers. */
__noinline int blame_who(u64 victim, u32 who, u64 ns, u32 cpu)
{
	return blame_add(victim, key_of(who), ns, cpu);
}

/* @cpu is less than layout.cpus. */
static __always_inline struct runq_pair_cell *pair_at(u64 pair, u64 cpu)
{
	return AREA(pairs) + cpu * RUNQ_PAIRS_BYTES + RUNQ_PAIR_AT(pair);
}

/* A pair that is not at its place: it takes it if it is free. */
static __noinline int pair_miss(u64 pair, u64 ns)
{
	u64 cpu = bpf_get_smp_processor_id();
	struct runq_pair_cell *cell;

	asm volatile("" : "+r"(cpu));
	if (cpu >= layout.cpus)
		return 0;
	cell = pair_at(pair, cpu);
	if (cell->pair)
		return blame_add(key_of(RUNQ_PAIR_VICTIM(pair)), key_of(RUNQ_PAIR_WHO(pair)), ns,
				 cpu);
	cell->pair = pair;
	cell->wait_ns += ns;
	cell->count++;
	return 0;
}

#endif
