/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counts hardirq time by interrupt line, for --irq and noise. */
#ifndef SUBTICK_BPF_LOAD_LINES_H
#define SUBTICK_BPF_LOAD_LINES_H

#include "load_hirq.bpf.h"
#include "load_noise.bpf.h"

MAP(lines, HASH, 0, 1, struct load_line_key, struct load_line_sum);

/* Number and time of hardirq handlers whose interrupt line did not fit into the map `lines`. */
__u64 lines_lost SEC(".data");
__u64 lines_lost_ns SEC(".data");

static __noinline int line_new(struct load_line_key *key, u64 ns)
{
	struct load_line_sum sum = {.ns = ns, .count = 1};

	/*
	 * For x86 vectors @key->name is an enum value. For all other interrupts it is the address
	 * of a string in kernel memory.
	 */
	if (key->name >= LOAD_LINE_KINDS)
		bpf_probe_read_kernel_str(sum.name, sizeof(sum.name), (const char *)key->name);
	if (bpf_map_update_elem(&lines, key, &sum, BPF_NOEXIST)) {
		__sync_fetch_and_add(&lines_lost, 1);
		__sync_fetch_and_add(&lines_lost_ns, ns);
	}
	return 0;
}

/* Adds @ns to the interrupt line of the handler that has ended. */
static __noinline int line_add(struct core_block *core, u64 ns)
{
	struct load_line_key key = core->line;
	struct load_line_sum *sum;

	/*
	 * If the entry event of the next handler is lost, the interrupt line of that handler is
	 * unknown.
	 */
	core->line.name = LOAD_LINE_UNKNOWN;
	core->line.irq = 0;
	key.cpu = bpf_get_smp_processor_id();
	if (FILLED(LOAD_FILLED_NOISE))
		return noise_line(&core->load, key.cpu, key.name, key.irq, ns);
	sum = bpf_map_lookup_elem(&lines, &key);
	if (!sum)
		return line_new(&key, ns);
	/*
	 * No atomic instructions are necessary: the map key contains the CPU number, and nested
	 * handlers are not counted.
	 */
	sum->ns += ns;
	sum->count++;
	return 0;
}

static __always_inline void line_name(struct core_block *core, u64 name, u32 irq)
{
	core->line.name = name;
	core->line.irq = irq;
}

/*
 * Records the entry of a hardirq handler. The time of a nested handler is added to the interrupt
 * line of the outer handler.
 */
static __always_inline int line_enter(u64 name, u32 irq, struct irqaction *action, bool vector)
{
	u64 now = bpf_ktime_get_ns();
	struct core_block *core = core_at(cpu_number());

	if (!hirq_depth(&core->load))
		line_name(core, name, irq);
	return hirq_enter(&core->load, now, action, vector);
}

/*
 * Adds the time of the handler to its interrupt line. hirq_leave() adds the same time to the slot,
 * so the sum over all lines is the hardirq time of the core.
 */
static __always_inline int line_leave(void)
{
	u64 now = bpf_ktime_get_ns(), before;
	struct core_block *core = core_at(cpu_number());
	/* a hardirq handler is counted even if the clock did not advance while the handler ran */
	bool ends = hirq_depth(&core->load) == 1;

	before = core->load.hirq_in_ns;
	hirq_leave(&core->load, now);
	return ends || core->load.hirq_in_ns != before ? line_add(core, core->load.hirq_in_ns - before) : 0;
}

#endif
