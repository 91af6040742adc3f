// SPDX-License-Identifier: GPL-2.0
/* Times pairs of disable and enable on the current CPU. */
#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timex.h>

#include "tracerbench.h"

/*
 * Maximum number of overhead samples, large enough that a few interrupts do not affect the median.
 */
#define TB_OVERHEAD_MAX 1001

/* Number of measured pairs between two checks of the stop flag: about ten microseconds. */
#define TB_CHECK_EVERY 256

static DEFINE_PER_CPU(unsigned long, tb_work_state);

/*
 * Work of a short critical section: reads, changes and writes a per-CPU variable, branches on its
 * value, and reads the current task. A compiler barrier prevents the compiler from turning the
 * branch into a conditional select.
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

/* Defines the function time_NAME(), which measures the time of one call of @disable and @enable. */
#define TB_TIME(name, disable, enable)                    \
	static __always_inline u64 time_##name(bool work) \
	{                                                 \
		unsigned long flags __maybe_unused;       \
		cycles_t start = get_cycles();            \
                                                          \
		disable;                                  \
		if (work)                                 \
			simulate_critical_section();      \
		enable;                                   \
		return get_cycles() - start;              \
	}

TB_TIME(irq, local_irq_disable(), local_irq_enable())
TB_TIME(preempt, preempt_disable(), preempt_enable())
TB_TIME(irq_save, local_irq_save(flags), local_irq_restore(flags))
/* Measures the overhead of a sample: the clock reads and the optional work between them. */
TB_TIME(nothing, , )

/*
 * Takes samples of the pairs of disable and enable, and samples of the measurement's overhead.
 * Overhead samples are spread evenly over the run, so that a change of the core's frequency affects
 * pairs and overhead equally. This function is inlined with a constant time_pair, so that there is
 * no function call between the two clock reads of a sample.
 */
static __always_inline int collect(u64 *value, struct tb_samples *samples, bool work,
				   const bool *stop, u64 (*time_pair)(bool work))
{
	size_t i, nr = samples->nr, stride = nr / TB_OVERHEAD_MAX + 1, until_overhead = 1;

	samples->nr_overhead = 0;
	for (i = 0; i < nr; i++) {
		value[i] = time_pair(work);
		if (!--until_overhead) {
			samples->overhead[samples->nr_overhead++] = time_nothing(work);
			until_overhead = stride;
		}
		if (i % TB_CHECK_EVERY)
			continue;
		cond_resched();
		if (READ_ONCE(*stop))
			return -EINTR;
	}
	return 0;
}

#define TB_COLLECT(name, op)                                                                      \
	static noinline int collect_##name(struct tb_samples *samples, bool work, const bool *stop) \
	{                                                                                         \
		return collect(samples->value[op], samples, work, stop, time_##name);             \
	}

TB_COLLECT(irq, TB_IRQ)
TB_COLLECT(preempt, TB_PREEMPT)
TB_COLLECT(irq_save, TB_IRQ_SAVE)

/*
 * Subtracts the median overhead. If the time of a pair is below the median overhead, the result is
 * 0, because the unsigned difference would wrap around.
 */
static void subtract_overhead(u64 *value, struct tb_samples *samples)
{
	u64 overhead;
	size_t i;

	tb_sort_descending(samples->overhead, samples->nr_overhead);
	overhead = tb_median_sorted(samples->overhead, samples->nr_overhead);
	for (i = 0; i < samples->nr; i++)
		value[i] = value[i] > overhead ? value[i] - overhead : 0;
}

int tb_samples_collect(struct tb_samples *samples, bool work, const bool *stop)
{
	static int (*const collect_op[TB_NR_OPS])(struct tb_samples *, bool, const bool *) = {
		[TB_IRQ] = collect_irq,
		[TB_PREEMPT] = collect_preempt,
		[TB_IRQ_SAVE] = collect_irq_save,
	};
	int op, err;

	for (op = 0; op < TB_NR_OPS; op++) {
		err = collect_op[op](samples, work, stop);
		if (err)
			return err;
		subtract_overhead(samples->value[op], samples);
	}
	return 0;
}

/*
 * Allocates one buffer of @nr samples per operation. The samples of all operations are kept until
 * the end, so that no CPU sorts samples while another CPU still takes samples.
 */
int tb_samples_alloc(struct tb_samples *samples, u64 nr)
{
	int op;

	*samples = (struct tb_samples){.nr = nr};
	if (samples->nr != nr)
		return -ENOMEM;
	samples->overhead = kvmalloc_array(TB_OVERHEAD_MAX, sizeof(u64), GFP_KERNEL);
	if (!samples->overhead)
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
	kvfree(samples->overhead);
	samples->overhead = NULL;
}
