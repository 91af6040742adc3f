/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader's side of abi/load.h. */
#include "measure/load_slot.h"

#include <string.h>

/* An update takes some tens of ns; a reader that fails this often met something else. */
#define SLOT_TRIES 1000

/* The two partitions, copied; private and optional fields are not needed for the equations. */
struct copy {
	uint64_t base, base_ns[LOAD_NR_CTX];
	uint64_t hirq, hirq_ns[LOAD_NR_CTX], hirq_out_ns;
};

static bool copy_once(const volatile struct load_slot *slot, struct copy *copy)
{
	uint64_t base_sum = 0, hirq_sum;

	copy->base = slot->base;
	copy->hirq = slot->hirq;
	copy->hirq_out_ns = slot->hirq_out_ns;
	hirq_sum = copy->hirq_out_ns;
	for (int i = 0; i < LOAD_NR_CTX; i++) {
		copy->base_ns[i] = slot->base_ns[i];
		copy->hirq_ns[i] = slot->hirq_ns[i];
		base_sum += copy->base_ns[i];
		hirq_sum += copy->hirq_ns[i];
	}
	return base_sum == copy->base >> 8 && hirq_sum == copy->hirq >> 8;
}

static bool copy_whole(const volatile struct load_slot *slot, struct copy *copy)
{
	for (int try = 0; try < SLOT_TRIES; try++)
		if (copy_once(slot, copy))
			return true;
	return false;
}

/* Adds what is still open at @now, so that both partitions end there. */
static void close_open(struct copy *copy, uint64_t now, uint32_t seed_ctx)
{
	uint64_t base_at = copy->base >> 8, hirq_at = copy->hirq >> 8, since;
	uint32_t ctx = copy->base & 0xff, under = ctx;

	if (ctx >= LOAD_NR_CTX)
		ctx = under = LOAD_UNKNOWN;
	if (ctx == LOAD_UNKNOWN)
		under = ctx = seed_ctx < LOAD_NR_CTX ? seed_ctx : LOAD_UNKNOWN;
	if (ctx == LOAD_TAIL && !(copy->hirq & 0xff)) {
		/* No edge since the interrupt: by now it is halted again. */
		since = base_at > hirq_at ? base_at : hirq_at;
		copy->base_ns[LOAD_TAIL] += since - base_at;
		copy->base_ns[LOAD_HALT] += now - since;
	} else {
		copy->base_ns[ctx] += now - base_at;
	}
	if (copy->hirq & 0xff)
		copy->hirq_ns[under] += now - hirq_at;
}

bool load_slot_read(const volatile struct load_slot *slot, uint64_t now_ns, uint32_t seed_ctx,
		    bool vecs, struct load_sample *ret_sample)
{
	static const uint8_t part_of[LOAD_NR_CTX] = {
		[LOAD_UNKNOWN] = LOAD_PART_UNKNOWN,
		[LOAD_HALT] = LOAD_PART_IDLE,
		[LOAD_TAIL] = LOAD_PART_IDLE_LOOP,
		[LOAD_POLL] = LOAD_PART_POLL_IDLE,
		[LOAD_LOOP] = LOAD_PART_IDLE_LOOP,
		[LOAD_TASK] = LOAD_PART_TASK,
		[LOAD_KSOFTIRQD] = LOAD_PART_KSOFTIRQD,
		[LOAD_SOFTIRQ_IDLE] = LOAD_PART_SOFTIRQ_ON_IDLE,
		[LOAD_SOFTIRQ_TASK] = LOAD_PART_SOFTIRQ_ON_TASK,
	};
	struct load_sample sample = {0};
	struct copy copy;

	sample.wall_ns = now_ns;
	if (!copy_whole(slot, &copy))
		return false;
	if (now_ns < copy.base >> 8)
		now_ns = copy.base >> 8;
	if (now_ns < copy.hirq >> 8)
		now_ns = copy.hirq >> 8;
	close_open(&copy, now_ns, seed_ctx);

	sample.stamp_ns = sample.total = now_ns;
	for (int i = 0; i < LOAD_NR_CTX; i++) {
		sample.part_ns[part_of[i]] += copy.base_ns[i] - copy.hirq_ns[i];
		sample.part_ns[LOAD_PART_HARDIRQ] += copy.hirq_ns[i];
	}
	for (int i = 0; i <= LOAD_PART_IDLE_LOOP; i++)
		sample.busy += sample.part_ns[i];
	for (int i = 0; vecs && i < LOAD_NR_VECS; i++) {
		sample.vec_ns[i] = slot->vec_ns[i];
		sample.vec_count[i] = slot->vec_count[i];
	}
	*ret_sample = sample;
	return true;
}

bool load_slot_pmu(const volatile struct load_slot *slot, uint64_t now_ns, uint64_t *ret_cycles,
		   uint64_t *ret_ns)
{
	for (int try = 0; try < SLOT_TRIES; try++) {
		uint64_t base = slot->base, cycles = slot->pmu_cycles, at = slot->pmu_ns;

		if ((cycles ^ at) != slot->pmu_check || !slot->pmu_check || slot->base != base)
			continue;
		/* Halted since the stored entry: nothing was counted in between. */
		if ((base & 0xff) == LOAD_HALT && base >> 8 <= at && at < now_ns)
			at = now_ns;
		*ret_cycles = cycles;
		*ret_ns = at;
		return true;
	}
	return false;
}
