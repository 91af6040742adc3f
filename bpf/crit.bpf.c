/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Measures pairs of kfuncs that disable and enable interrupts or preemption. */
#include "kernel.bpf.h"
#include "map.bpf.h"
#include "abi/crit.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* libbpf compares this struct definition with the kernel's definition. */
struct bpf_iter_num {
	u64 opaque;
} __attribute__((aligned(8)));

/*
 * The symbols are weak, so that the BPF object also loads on kernels that lack these kfuncs. Linux
 * 6.4 added bpf_iter_num_*, 6.10 bpf_preempt_*, and 6.14 bpf_local_irq_*. libbpf 1.3 declares
 * bpf_iter_num_* with the same types.
 */
extern void bpf_local_irq_save(unsigned long *flags) __weak __ksym;
extern void bpf_local_irq_restore(unsigned long *flags) __weak __ksym;
extern void bpf_preempt_disable(void) __weak __ksym;
extern void bpf_preempt_enable(void) __weak __ksym;
extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __weak __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __weak __ksym;

MAPPED_ARRAY(slots, struct crit_slot);

struct run {
	struct crit_slot *slot;
	u32 work;
};

/*
 * Critical section with the same operations as in kmod/tracerbench: load, modify, store, branch,
 * read the current task.
 */
static __noinline int crit_work(struct crit_slot *slot)
{
	u64 state = slot->work_state;

	if (state & 1) {
		state = state * 3 + 1;
		barrier_var(state);
	} else {
		state >>= 1;
	}
	slot->work_state = state + (u32)bpf_get_current_pid_tgid();
	return 0;
}

#define WORK(run)                                                                                  \
	do {                                                                                       \
		if ((run)->work)                                                                   \
			crit_work((run)->slot);                                                    \
	} while (0)

#define PAIR_irq_save(run)                                                                         \
	do {                                                                                       \
		unsigned long flags_;                                                              \
		bpf_local_irq_save(&flags_);                                                       \
		WORK(run);                                                                         \
		bpf_local_irq_restore(&flags_);                                                    \
	} while (0)

#define PAIR_preempt(run)                                                                          \
	do {                                                                                       \
		bpf_preempt_disable();                                                             \
		WORK(run);                                                                         \
		bpf_preempt_enable();                                                              \
	} while (0)

/*
 * The overhead of kfunc calls is measured with a numeric iterator from 0 to 0, because the kernel
 * has no empty kfunc. Like bpf_local_irq_*, both kfuncs of the iterator take a pointer to the
 * stack. On arm64 with Linux 6.18, the two iterator calls take 5.9 ns; two calls of
 * bpf_dynptr_is_null() take 6.4 ns.
 */
#define PAIR_empty(run)                                                                            \
	do {                                                                                       \
		struct bpf_iter_num it_;                                                           \
		bpf_iter_num_new(&it_, 0, 0);                                                      \
		WORK(run);                                                                         \
		bpf_iter_num_destroy(&it_);                                                        \
	} while (0)

#define PAIR_nothing(run) WORK(run)

#define TIMED(pair, run)                                                                           \
	({                                                                                         \
		u64 start_ = bpf_ktime_get_ns();                                                   \
		pair(run);                                                                         \
		bpf_ktime_get_ns() - start_;                                                       \
	})

#define TIMED_BATCH(pair, run)                                                                     \
	({                                                                                         \
		u64 start_ = bpf_ktime_get_ns();                                                   \
		_Pragma("unroll") for (int k_ = 0; k_ < CRIT_BATCH; k_++) pair(run);               \
		bpf_ktime_get_ns() - start_;                                                       \
	})

/*
 * The programs measure the overhead of the clock between the kfunc pairs, so that a change of the
 * CPU frequency affects the overhead and the pairs equally.
 */
#define CRIT_PROGRAM(op)                                                                           \
	static long single_##op(u32 i, struct run *run)                                            \
	{                                                                                          \
		u32 j = i / CRIT_STRIDE;                                                           \
		if (i >= CRIT_CHUNK || j >= CRIT_EMPTIES)                                          \
			return 1;                                                                  \
		run->slot->pair_ns[i] = TIMED(PAIR_##op, run);                                     \
		if (i % CRIT_STRIDE)                                                               \
			return 0;                                                                  \
		run->slot->empty_ns[j] = TIMED(PAIR_empty, run);                                   \
		run->slot->clock_ns[j] = TIMED(PAIR_nothing, run);                                 \
		return 0;                                                                          \
	}                                                                                          \
	static long batch_##op(u32 i, struct run *run)                                             \
	{                                                                                          \
		if (i >= CRIT_BATCHES)                                                             \
			return 1;                                                                  \
		run->slot->batch_pair_ns[i] = TIMED_BATCH(PAIR_##op, run);                         \
		run->slot->batch_empty_ns[i] = TIMED_BATCH(PAIR_empty, run);                       \
		return 0;                                                                          \
	}                                                                                          \
	SEC("syscall") int crit_##op(struct crit_args *args)                                       \
	{                                                                                          \
		u32 index = args->slot;                                                            \
		struct run run = {.work = args->work};                                             \
		run.slot = bpf_map_lookup_elem(&slots, &index);                                    \
		if (!run.slot)                                                                     \
			return 1;                                                                  \
		args->cpu = bpf_get_smp_processor_id();                                            \
		bpf_loop(args->nr, single_##op, &run, 0);                                          \
		bpf_loop(CRIT_BATCHES, batch_##op, &run, 0);                                       \
		return 0;                                                                          \
	}

CRIT_PROGRAM(irq_save)
CRIT_PROGRAM(preempt)
