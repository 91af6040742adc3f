/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sources timer, remote and nic of wake: stores the timestamps of a launch. */
#ifndef SUBTICK_BPF_WAKE_POINT_H
#define SUBTICK_BPF_WAKE_POINT_H

#include "task.bpf.h"
#include "map.bpf.h"
#include "abi/wake.h"

/*
 * Constants that user space sets before it loads the programs. Source passive can be measured
 * together with source timer, remote or nic.
 */
const volatile bool want_points;
const volatile bool want_passive;
const volatile bool switch_state_first;
/* number of histograms per CPU: one per idle state, at least 1 */
const volatile __u32 nr_states = 1;
const volatile bool one_state;

MAPPED_ARRAY(slots, struct wake_slot);
MAPPED_ARRAY(launches, struct wake_launch);

static __always_inline void point_exit(struct wake_slot *s, u32 cpu, u64 now)
{
	struct wake_launch *l = bpf_map_lookup_elem(&launches, &cpu);
	u64 launch = l ? l->launch_ns : 0;

	if (!launch)
		return;
	if (now < launch) {
		s->point.early_exits++;
		return;
	}
	if (s->win.tbi_ns >= launch || s->point.tai_ns)
		return;
	s->point.tbi_ns = s->win.tbi_ns;
	s->point.tai_ns = now;
	s->point.state = s->win.state;
}

static __always_inline void point_irq(struct wake_slot *s, u32 cpu, u64 now, u32 kind, u32 irq)
{
	struct wake_launch *l = bpf_map_lookup_elem(&launches, &cpu);
	u64 launch = l ? l->launch_ns : 0;

	if (!launch || now < launch)
		return;
	if (!s->point.irqs) {
		s->point.ti_ns = now;
		s->point.irq_kind = kind;
		s->point.irq = irq;
		s->point.inside = s->win.idle;
	}
	s->point.irqs++;
}

static __always_inline void point_expire(struct wake_slot *s, u32 cpu, u64 soft, u64 hard, u64 now)
{
	struct wake_launch *l = bpf_map_lookup_elem(&launches, &cpu);
	u64 launch = l ? l->launch_ns : 0;

	if (!launch || s->point.expire_ns)
		return;
	if (soft == launch + l->delay_ns) {
		s->point.expire_ns = now;
		s->point.expire_irqs = s->point.irqs;
	} else if (hard < launch && now >= launch && s->point.irqs) {
		s->point.due_before = 1;
	}
}

#endif
