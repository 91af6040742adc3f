/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hardirq time by line, for --irq and `noise`: the programs of load_hirq.bpf.h, with a name. */
#ifndef SUBTICK_BPF_LOAD_LINES_H
#define SUBTICK_BPF_LOAD_LINES_H

#include "load_hirq.bpf.h"
#include "load_noise.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct load_line_key);
	__type(value, struct load_line_sum);
} lines SEC(".maps");

/* What each core's open handler is called; `irq` and `name` only. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct load_line_key);
} open_lines SEC(".maps");

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

static __noinline int line_add(struct load_slot *s, u32 cpu, u64 ns)
{
	struct load_line_key *open = bpf_map_lookup_elem(&open_lines, &cpu), key = {.cpu = cpu};
	struct load_line_sum *sum;

	if (open) {
		key.name = open->name;
		key.irq = open->irq;
		/* The next one, should its entry be lost, is not this one. */
		open->name = LOAD_LINE_UNKNOWN;
		open->irq = 0;
	}
	if (FILLED(LOAD_FILLED_NOISE))
		return noise_line(s, cpu, key.name, key.irq, ns);
	sum = bpf_map_lookup_elem(&lines, &key);
	if (!sum)
		return line_new(&key, ns);
	/* Only this core has this key, and a handler is not interrupted by another. */
	sum->ns += ns;
	sum->count++;
	return 0;
}

static __always_inline void line_name(u32 cpu, u64 name, u32 irq)
{
	struct load_line_key *open = bpf_map_lookup_elem(&open_lines, &cpu);

	if (open) {
		open->name = name;
		open->irq = irq;
	}
}

/* A handler inside a handler is part of the outer one. */
static __always_inline int line_enter(u64 name, u32 irq, struct irqaction *action, bool vector)
{
	u32 cpu = bpf_get_smp_processor_id();
	bool inside = slot_at(cpu)->hirq & 0xff;

	hirq_enter(action, vector);
	if (!inside)
		line_name(cpu, name, irq);
	return 0;
}

/* Whatever hirq_leave() counts belongs to a line, so that the lines sum up to the hardirq part. */
static __always_inline int line_leave(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct load_slot *s = slot_at(cpu);
	bool ends = (s->hirq & 0xff) == 1; /* counts even if the clock did not advance */
	u64 before = s->hirq_in_ns;

	hirq_leave();
	return ends || s->hirq_in_ns != before ? line_add(s, cpu, s->hirq_in_ns - before) : 0;
}

#endif
