// SPDX-License-Identifier: GPL-2.0-only
/* Times one disable+enable pair after another on the CPU it is called on. */
#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timex.h>

#include "tracerbench.h"

/* Enough for a median that one interrupt does not move. */
#define TB_OVERHEAD_SAMPLES 1001

/* Between two looks at the stop flag: some ten microseconds on any machine. */
#define TB_CHECK_EVERY 256

static DEFINE_PER_CPU(unsigned long, tb_work_state);

/*
 * What a short critical section does: read, change and write a per-CPU
 * variable, branch on it, look at the current task. The barrier keeps the
 * compiler from turning the branch into a conditional select.
 */
static noinline void simulate_critical_section(void)
{
	unsigned long state = raw_cpu_read(tb_work_state);

	if (state & 1) {
		state = state * 3 + 1;
		barrier();
	} else {
		state >>= 1;
	}
	raw_cpu_write(tb_work_state, state + current->pid);
}

/* lock is local_irq or preempt: pasted to lock_disable() and lock_enable(). */
#define time_diff(lock, work)                        \
	({                                           \
		cycles_t start_ = get_cycles();      \
		lock##_disable();                    \
		if (work)                            \
			simulate_critical_section(); \
		lock##_enable();                     \
		(u64)(get_cycles() - start_);        \
	})

static __always_inline u64 time_irq(bool work)
{
	return time_diff(local_irq, work);
}

static __always_inline u64 time_preempt(bool work)
{
	return time_diff(preempt, work);
}

static __always_inline u64 time_irq_save(bool work)
{
	unsigned long flags;
	cycles_t start = get_cycles();

	local_irq_save(flags);
	if (work)
		simulate_critical_section();
	local_irq_restore(flags);
	return get_cycles() - start;
}

/* All that a sample holds besides the pair: the clock, and the work where there is any. */
static __always_inline u64 time_nothing(bool work)
{
	cycles_t start = get_cycles();

	if (work)
		simulate_critical_section();
	return get_cycles() - start;
}

/*
 * A pair that came out below the median overhead cost nothing that this clock
 * can show, so it is 0 rather than a wrapped difference. Inlined with a constant
 * time_pair: no indirect call may stand between the two clock reads.
 */
static __always_inline int take(u64 *value, size_t nr, u64 overhead, bool work, const bool *stop,
				u64 (*time_pair)(bool work))
{
	size_t i;

	for (i = 0; i < nr; i++) {
		u64 cycles = time_pair(work);

		value[i] = cycles > overhead ? cycles - overhead : 0;
		if (i % TB_CHECK_EVERY)
			continue;
		cond_resched();
		if (READ_ONCE(*stop))
			return -EINTR;
	}
	return 0;
}

/* The first buffer serves as scratch: its samples are taken only after this. */
static noinline u64 measure_overhead(u64 *scratch, size_t nr, bool work)
{
	size_t i, n = min_t(size_t, nr, TB_OVERHEAD_SAMPLES);

	for (i = 0; i < n; i++)
		scratch[i] = time_nothing(work);
	tb_sort_descending(scratch, n);
	return tb_median_sorted(scratch, n);
}

static noinline int take_irq(u64 *value, size_t nr, u64 overhead, bool work, const bool *stop)
{
	return take(value, nr, overhead, work, stop, time_irq);
}

static noinline int take_preempt(u64 *value, size_t nr, u64 overhead, bool work, const bool *stop)
{
	return take(value, nr, overhead, work, stop, time_preempt);
}

static noinline int take_irq_save(u64 *value, size_t nr, u64 overhead, bool work, const bool *stop)
{
	return take(value, nr, overhead, work, stop, time_irq_save);
}

int tb_samples_take(struct tb_samples *samples, bool work, const bool *stop)
{
	size_t nr = samples->nr;
	u64 overhead;
	int err;

	overhead = measure_overhead(samples->value[TB_IRQ], nr, work);
	err = take_irq(samples->value[TB_IRQ], nr, overhead, work, stop);
	if (!err)
		err = take_preempt(samples->value[TB_PREEMPT], nr, overhead, work, stop);
	if (!err)
		err = take_irq_save(samples->value[TB_IRQ_SAVE], nr, overhead, work, stop);
	return err;
}

/*
 * All three operations have their own buffer, so that no CPU sorts while
 * another still samples.
 */
int tb_samples_alloc(struct tb_samples *samples, u64 nr)
{
	int op;

	*samples = (struct tb_samples){.nr = nr};
	if (samples->nr != nr)
		return -ENOMEM;
	for (op = 0; op < TB_NR_OPS; op++) {
		samples->value[op] = kvmalloc_array(nr, sizeof(u64), TB_GFP_LARGE);
		if (!samples->value[op]) {
			tb_samples_free(samples);
			return -ENOMEM;
		}
	}
	return 0;
}

void tb_samples_free(struct tb_samples *samples)
{
	int op;

	for (op = 0; op < TB_NR_OPS; op++) {
		kvfree(samples->value[op]);
		samples->value[op] = NULL;
	}
}
