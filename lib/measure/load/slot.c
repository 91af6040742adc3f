/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the per-CPU slots of abi/load.h. */
#include "measure/load/slot.h"

#include "abi/core.h"
#include "base/clock.h"

/*
 * Maximum number of attempts to read a slot. An attempt fails if a BPF program updates the slot
 * during the read. BPF programs need tens of ns for an update.
 */
#define SLOT_TRIES 1000

/*
 * Relaxed reads of a slot are sufficient, because the equations in abi/load.h show whether the
 * values that were read are consistent.
 */
#define SEE(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)

static const uint8_t part_of[LOAD_NR_CTX] = {
	[LOAD_HALT] = LOAD_PART_IDLE,
	[LOAD_TAIL] = LOAD_PART_IDLE_LOOP,
	[LOAD_POLL] = LOAD_PART_POLL_IDLE,
	[LOAD_LOOP] = LOAD_PART_IDLE_LOOP,
	[LOAD_TASK] = LOAD_PART_TASK,
	[LOAD_KSOFTIRQD] = LOAD_PART_KSOFTIRQD,
	[LOAD_SOFTIRQ_IDLE] = LOAD_PART_SOFTIRQ_ON_IDLE,
	[LOAD_SOFTIRQ_TASK] = LOAD_PART_SOFTIRQ_ON_TASK,
};

/* Adds the time from the last event until @now to the time of the current context. */
static inline void close_open(uint64_t *part_ns, uint64_t base, uint64_t hirq, uint32_t ctx,
			      uint64_t now)
{
	uint64_t base_at = base >> 8, hirq_at = hirq >> 8, since = base_at;
	uint32_t part = ctx < LOAD_NR_CTX ? part_of[ctx] : LOAD_PART_UNKNOWN;

	if (hirq & 0xff) {
		part_ns[LOAD_PART_HARDIRQ] += now - hirq_at;
		part_ns[part] -= now - hirq_at;
	} else if (ctx == LOAD_TAIL) {
		/* no event has followed the last interrupt, so the CPU has halted again */
		since = base_at > hirq_at ? base_at : hirq_at;
		part_ns[part] += since - base_at;
		part = LOAD_PART_IDLE;
	}
	part_ns[part] += now - since;
}

/*
 * Tries once to read a slot. All array indices are constants, so that the compiler keeps the local
 * arrays in registers and reading a slot takes at most 20 ns.
 */
static inline bool read_once(const struct load_slot *slot, uint64_t wall_ns, uint32_t seed_ctx,
			     struct load_sample *s)
{
	uint64_t now = wall_ns, base = SEE(slot->base), hirq = SEE(slot->hirq),
		 out = SEE(slot->hirq_out_ns);
	uint64_t own[LOAD_NR_CTX], base_sum = 0, hirq_sum = 0;

#pragma GCC unroll 8
	for (int i = 0; i < LOAD_NR_CTX; i++) {
		uint64_t base_ns = SEE(slot->base_ns[i]), hirq_ns = SEE(slot->hirq_ns[i]);

		base_sum += base_ns;
		hirq_sum += hirq_ns;
		own[i] = base_ns - hirq_ns;
	}
	if (base_sum != base >> 8 || hirq_sum + out != hirq >> 8)
		return false;
	if (now < base >> 8)
		now = base >> 8;
	if (now < hirq >> 8)
		now = hirq >> 8;
	*s = (struct load_sample){
		.stamp_ns = now,
		.wall_ns = wall_ns,
		.total = now,
		.part_ns =
			{
				[LOAD_PART_TASK] = own[LOAD_TASK],
				[LOAD_PART_HARDIRQ] = hirq_sum,
				[LOAD_PART_SOFTIRQ_ON_IDLE] = own[LOAD_SOFTIRQ_IDLE],
				[LOAD_PART_SOFTIRQ_ON_TASK] = own[LOAD_SOFTIRQ_TASK],
				[LOAD_PART_KSOFTIRQD] = own[LOAD_KSOFTIRQD],
				[LOAD_PART_IDLE_LOOP] = own[LOAD_LOOP] + own[LOAD_TAIL],
				[LOAD_PART_POLL_IDLE] = own[LOAD_POLL],
				[LOAD_PART_IDLE] = own[LOAD_HALT],
			},
	};
	close_open(s->part_ns, base, hirq, base ? base & 0xff : seed_ctx, now);
	s->busy = now - s->part_ns[LOAD_PART_POLL_IDLE] - s->part_ns[LOAD_PART_IDLE] -
		  s->part_ns[LOAD_PART_UNKNOWN];
	return true;
}

bool load_slot_read(const struct load_slot *slot, uint64_t now_ns, uint32_t seed_ctx,
		    struct load_sample *ret_sample)
{
	/*
	 * Prefetch the slot of the next CPU, because its cache lines are probably dirty in the
	 * cache of the next CPU.
	 */
	const struct load_slot *next = (const void *)((const char *)slot + sizeof(struct core_block));

	__builtin_prefetch(&next->base);
	__builtin_prefetch(&next->base_ns[7]);
	__builtin_prefetch(&next->hirq_ns[7]);
	for (int try = 0; try < SLOT_TRIES; try++)
		if (read_once(slot, now_ns, seed_ctx, ret_sample))
			return true;
	return false;
}

void load_slot_vecs(const struct load_slot *slot, struct load_vecs *ret_vecs)
{
	for (int i = 0; i < LOAD_NR_VECS; i++) {
		ret_vecs->ns[i] = SEE(slot->vec_ns[i]);
		ret_vecs->count[i] = SEE(slot->vec_count[i]);
	}
}

bool load_slot_pmu(const struct load_slot *slot, uint64_t now_ns, struct load_stored *ret_stored)
{
	for (int try = 0; try < SLOT_TRIES; try++) {
		uint64_t base = SEE(slot->base), check = SEE(slot->pmu_check);
		uint64_t cycles = SEE(slot->pmu_cycles), at = SEE(slot->pmu_ns);

		if (~(cycles ^ at) != check || SEE(slot->base) != base)
			continue;
		*ret_stored =
			(struct load_stored){.cycles = cycles, .stored_ns = at, .holds_ns = at};
		/* The CPU has been halted since stored_ns, so the counter has not advanced. */
		if ((base & 0xff) == LOAD_HALT && base >> 8 <= at && at < now_ns)
			ret_stored->holds_ns = now_ns;
		return true;
	}
	return false;
}

/*
 * Returns the time in ns that the word `busy` or `both` of struct load_smt represents. @now is the
 * current value of the word's clock.
 */
static uint64_t smt_time(uint64_t word, uint64_t now)
{
	return (uint64_t)((int64_t)word >> 1) + (word & 1 ? now : 0);
}

struct smt_words {
	uint64_t busy, both;
};

static struct smt_words smt_see(const struct load_smt *smt)
{
	struct smt_words words = {SEE(smt->busy), SEE(smt->both)};

	/* `busy` is 0 until the CPU first changes between busy and idle */
	if (!words.busy)
		words.busy = words.both = SEE(smt->seed);
	return words;
}

static bool smt_same(struct smt_words a, struct smt_words b)
{
	return a.busy == b.busy && a.both == b.both && !((a.busy ^ a.both) & 1);
}

void load_smt_read(const struct load_smt *a, const struct load_smt *b, uint64_t start_ns,
		   struct load_smt_sample *ret_sample)
{
	/* The words of both siblings are consistent if none changes while the clock is read. */
	for (int try = 0; try < SLOT_TRIES; try++) {
		struct smt_words first = smt_see(a), second = smt_see(b);
		uint64_t now = clock_mono_ns() - start_ns;
		uint64_t busy[2] = {smt_time(first.busy, now), smt_time(second.busy, now)};

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!smt_same(first, smt_see(a)) || !smt_same(second, smt_see(b)))
			continue;
		*ret_sample = (struct load_smt_sample){
			.now_ns = now,
			.busy_ns = {busy[0], busy[1]},
			.both_ns = {smt_time(first.both, busy[1]), smt_time(second.both, busy[0])},
		};
		return;
	}
	*ret_sample = (struct load_smt_sample){.torn = true};
}
