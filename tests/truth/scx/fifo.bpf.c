/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* sched_ext scheduler for tests: one queue for all tasks and cores, first in, first out. */
#include "scx.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define QUEUE 1

SEC("struct_ops/enqueue")
int BPF_PROG(fifo_enqueue, struct task_struct *p, u64 flags)
{
	scx_bpf_dsq_insert(p, QUEUE, SCX_SLICE_NS, flags);
	return 0;
}

SEC("struct_ops/dispatch")
int BPF_PROG(fifo_dispatch, s32 cpu, struct task_struct *prev)
{
	scx_bpf_dsq_move_to_local(QUEUE);
	return 0;
}

SEC("struct_ops/init")
int BPF_PROG(fifo_init)
{
	return scx_bpf_create_dsq(QUEUE, -1);
}

SEC(".struct_ops")
struct sched_ext_ops fifo = {
	.enqueue = (void *)fifo_enqueue,
	.dispatch = (void *)fifo_dispatch,
	.init = (void *)fifo_init,
	.name = "subtick_fifo",
};
