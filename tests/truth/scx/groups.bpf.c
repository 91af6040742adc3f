/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* sched_ext scheduler for tests: a queue per cgroup, served in turn. It ignores weights and quotas. */
#include "scx.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Cgroups with a queue of their own; tasks of all others share queue OTHERS. */
#define GROUPS_MAX 32
#define OTHERS	   1

struct cgroup *scx_bpf_task_cgroup(struct task_struct *p) __ksym;
void bpf_cgroup_release(struct cgroup *cgrp) __ksym;

/* Ids of the queues, which are the ids of the cgroups; 0: free. */
__u64 queues[GROUPS_MAX];
__u32 turn;

static u64 queue_of(u64 id)
{
	for (u32 i = 0; i < GROUPS_MAX; i++)
		if (queues[i] == id)
			return id;
	return OTHERS;
}

SEC("struct_ops/enqueue")
int BPF_PROG(groups_enqueue, struct task_struct *p, u64 flags)
{
	struct cgroup *cgrp = scx_bpf_task_cgroup(p);
	u64 queue = OTHERS;

	if (cgrp) {
		queue = queue_of(cgrp->kn->id);
		bpf_cgroup_release(cgrp);
	}
	scx_bpf_dsq_insert(p, queue, SCX_SLICE_NS, flags);
	return 0;
}

SEC("struct_ops/dispatch")
int BPF_PROG(groups_dispatch, s32 cpu, struct task_struct *prev)
{
	u32 first = turn++;

	for (u32 i = 0; i < GROUPS_MAX; i++) {
		u64 queue = queues[(first + i) % GROUPS_MAX];

		if (queue && scx_bpf_dsq_move_to_local(queue))
			return 0;
	}
	scx_bpf_dsq_move_to_local(OTHERS);
	return 0;
}

SEC("struct_ops/cgroup_init")
int BPF_PROG(groups_cgroup_init, struct cgroup *cgrp, struct scx_cgroup_init_args *args)
{
	u64 id = cgrp->kn->id;

	/* Id 1 is the root's; id OTHERS is made by init. */
	for (u32 i = 0; i < GROUPS_MAX && id != OTHERS; i++)
		if (!queues[i]) {
			int rc = scx_bpf_create_dsq(id, -1);

			if (!rc)
				queues[i] = id;
			return rc;
		}
	return 0;
}

SEC("struct_ops/cgroup_exit")
int BPF_PROG(groups_cgroup_exit, struct cgroup *cgrp)
{
	u64 id = cgrp->kn->id;

	for (u32 i = 0; i < GROUPS_MAX; i++)
		if (queues[i] == id) {
			queues[i] = 0;
			scx_bpf_destroy_dsq(id);
		}
	return 0;
}

SEC("struct_ops/init")
int BPF_PROG(groups_init)
{
	return scx_bpf_create_dsq(OTHERS, -1);
}

SEC(".struct_ops")
struct sched_ext_ops groups = {
	.enqueue = (void *)groups_enqueue,
	.dispatch = (void *)groups_dispatch,
	.cgroup_init = (void *)groups_cgroup_init,
	.cgroup_exit = (void *)groups_cgroup_exit,
	.init = (void *)groups_init,
	.name = "subtick_groups",
};
