/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counts wait time by victim and culprit. The culprit is the group whose tasks ran on the core. */
#ifndef SUBTICK_BPF_RUNQ_BLAME_H
#define SUBTICK_BPF_RUNQ_BLAME_H

#include "runq_slots.bpf.h"

static __always_inline struct runq_row *row_at(u32 row)
{
	return FIXED(rows) + (u64)(row % RUNQ_NR_BLAME) * sizeof(struct runq_row);
}

/*
 * Allocates a free row of the blame table. Returns false if all rows are in use. Row numbers are
 * stored in queue maps, because BPF of Linux 5.10 has no atomic fetch-and-add.
 */
static __always_inline bool row_take(u32 *ret_row)
{
	u32 next;

	if (!bpf_map_pop_elem(&free_rows, ret_row))
		return true;
	if (bpf_map_pop_elem(&new_rows, ret_row))
		return false;
	next = *ret_row + layout.cpus;
	if (next < RUNQ_NR_BLAME)
		bpf_map_push_elem(&new_rows, &next, 0);
	return true;
}

/*
 * Allocates a row for a pair of victim and culprit. Returns the number of the row, or 0 if all rows
 * are in use. row_new() is inlined, because the kernel limits BPF programs to 8 stack frames.
 */
static __always_inline u32 row_new(struct runq_pair *pair, u32 cpu)
{
	struct runq_cpu *pc = cpu_at(cpu);
	u32 at, *known;

	/* the key of the culprit is 0 if its slot currently belongs to no group */
	if (!pair->culprit) {
		pair->culprit = RUNQ_KEY_OTHER;
		known = bpf_map_lookup_elem(&row_of, pair);
		if (known)
			return *known;
	}
	if (row_take(&at)) {
		if (at >= pc->rows)
			pc->rows = at + 1;
		row_at(at)->pair = *pair;
		if (!bpf_map_update_elem(&row_of, pair, &at, BPF_NOEXIST))
			return at;
		row_at(at)->pair = (struct runq_pair){};
		bpf_map_push_elem(&free_rows, &at, 0);
		/* The map update fails if another core has just added the pair. */
		known = bpf_map_lookup_elem(&row_of, pair);
		if (known)
			return *known;
	}
	pc->blame_full++;
	return 0;
}

/*
 * Adds wait time to a pair of victim and culprit. blame_add() is a global function, because the
 * verifier checks a global function only once. The arguments are numbers, because global functions
 * take no pointers before Linux 5.12.
 */
__noinline int blame_add(u64 victim, u64 culprit, u64 ns, u32 cpu)
{
	struct runq_pair pair = {.victim = victim, .culprit = culprit};
	struct runq_row *row;
	u32 *known;

	/*
	 * blame_add() contains these tests, because a test at each time segment would double the
	 * paths that the verifier checks.
	 */
	if (!want_blame || !victim || !ns)
		return 0;
	known = bpf_map_lookup_elem(&row_of, &pair);
	row = row_at(known ? *known : row_new(&pair, cpu));
	__sync_fetch_and_add(&row->charge.wait_ns, ns);
	__sync_fetch_and_add(&row->charge.count, 1);
	return 0;
}

static __always_inline u64 key_of(u32 who)
{
	void *slot;

	if (who >= RUNQ_SLOT_UNWANTED)
		return (u64)(s64)(s32)who;
	slot = who ? slot_get(who) : NULL;
	return slot ? slot_head(slot)->key : RUNQ_KEY_OTHER;
}

/*
 * Adds wait time to the pair of @victim and the culprit @who (see RUNQ_RAN_WHO()). blame_who() is a
 * global function, because inlining the code for every segment would exceed the instruction limit
 * of some verifiers.
 */
__noinline int blame_who(u64 victim, u32 who, u64 ns, u32 cpu)
{
	return blame_add(victim, key_of(who), ns, cpu);
}

/*
 * Returns the cell of a pair in the table of core @cpu, which must be below the number of blocks.
 */
static __always_inline struct runq_pair_cell *pair_at(u64 pair, u64 cpu)
{
	return FIXED(pairs) + cpu * RUNQ_PAIRS_BYTES + RUNQ_PAIR_AT(pair);
}

/*
 * Adds wait time to a pair of victim and culprit that is not in the core's table of pairs. If the
 * pair's cell in the table is free, the pair gets this cell.
 */
static __noinline int pair_miss(u64 pair, u64 ns)
{
	u64 cpu = cpu_number();
	struct runq_pair_cell *cell;

	FILLED_AND(cpu, CORE_FILLED_CPU_MASK);
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
