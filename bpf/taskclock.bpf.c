/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sums the task time of each CPU at every switch, like the task clocks of perf. */
#include "kernel.bpf.h"
#include "map.bpf.h"
#include "abi/taskclock.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Constant that user space sets before it loads the program. */
const volatile bool switch_state_first;
__u64 start_ns;

MAPPED_ARRAY(slots, struct taskclock_slot);

SEC("tp_btf/sched_switch")
int taskclock_switch(u64 *ctx)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct task_struct *prev, *next;
	struct taskclock_slot *s;
	u64 now, state;

	s = bpf_map_lookup_elem(&slots, &cpu);
	if (!s || !start_ns)
		return 0;
	switch_tasks(ctx, switch_state_first, &prev, &next);
	now = bpf_ktime_get_ns() - start_ns;
	state = s->state;
	if (now < state >> 1)
		now = state >> 1;
	if (prev->pid)
		s->task_ns += now - (state >> 1);
	else
		s->idle_ns += now - (state >> 1);
	s->state = now << 1 | (next->pid ? 1 : 0);
	return 0;
}
