/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hardirq time by line, for --irq and `noise`: the programs of load_hirq.bpf.h, with a name. */
#ifndef SUBTICK_BPF_LOAD_LINES_H
#define SUBTICK_BPF_LOAD_LINES_H

#include "load_hirq.bpf.h"
#include "load_noise.bpf.h"

MAP(lines, HASH, 0, 1, struct load_line_key, struct load_line_sum);

/* Handlers that found no room in `lines`, and their time. */
__u64 lines_lost SEC(".data");
__u64 lines_lost_ns SEC(".data");

static __noinline int line_new(struct load_line_key *key, u64 ns)
{
	struct load_line_sum sum = {.ns = ns, .count = 1};

	/* Names of vectors are known to the reader; all others are strings of the kernel. */
	if (key->name >= LOAD_LINE_KINDS)
		bpf_probe_read_kernel_str(sum.name, sizeof(sum.name), (const char *)key->name);
	if (bpf_map_update_elem(&lines, key, &sum, BPF_NOEXIST)) {
		__sync_fetch_and_add(&lines_lost, 1);
		__sync_fetch_and_add(&lines_lost_ns, ns);
	}
	return 0;
}

/* @ns of the handler that ends on this core, as the line that is open. */
static __noinline int line_add(struct core_block *core, u64 ns)
{
	struct load_line_key key = core->line;
	struct load_line_sum *sum;

	/* The next one, should its entry be lost, is not this one. */
	core->line.name = LOAD_LINE_UNKNOWN;
	core->line.irq = 0;
	key.cpu = bpf_get_smp_processor_id();
	if (FILLED(LOAD_FILLED_NOISE))
		return noise_line(&core->load, key.cpu, key.name, key.irq, ns);
	sum = bpf_map_lookup_elem(&lines, &key);
	if (!sum)
		return line_new(&key, ns);
	/* Only this core has this key, and a handler is not interrupted by another. */
	sum->ns += ns;
	sum->count++;
	return 0;
}

static __always_inline void line_name(struct core_block *core, u64 name, u32 irq)
{
	core->line.name = name;
	core->line.irq = irq;
}

/* A handler inside a handler is part of the outer one. */
static __always_inline int line_enter(u64 name, u32 irq, struct irqaction *action, bool vector)
{
	u64 now = bpf_ktime_get_ns();
	struct core_block *core = core_at(cpu_number());

	if (!hirq_depth(&core->load))
		line_name(core, name, irq);
	return hirq_enter(&core->load, now, action, vector);
}

/* Whatever hirq_leave() counts belongs to a line, so that the lines sum up to the hardirq part. */
static __always_inline int line_leave(void)
{
	u64 now = bpf_ktime_get_ns(), before;
	struct core_block *core = core_at(cpu_number());
	bool ends = hirq_depth(&core->load) == 1; /* counts even if the clock did not advance */

	before = core->load.hirq_in_ns;
	hirq_leave(&core->load, now);
	return ends || core->load.hirq_in_ns != before ? line_add(core, core->load.hirq_in_ns - before) : 0;
}

#endif
