/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two sched_ext schedulers for tests, which ignore weights and quotas. */
#include "bpf/kernel.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define SCX_SLICE_NS (4 * 1000 * 1000ULL)

/* Kernel functions of Linux 6.13 and later. */
void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq, u64 slice_ns, u64 flags) __ksym;
bool scx_bpf_dsq_move_to_local(u64 dsq) __ksym;
s32 scx_bpf_create_dsq(u64 dsq, s32 node) __ksym;
void scx_bpf_destroy_dsq(u64 dsq) __ksym;
struct cgroup *scx_bpf_task_cgroup(struct task_struct *p) __ksym;
void bpf_cgroup_release(struct cgroup *cgrp) __ksym;

struct scx_cgroup_init_args;

/*
 * Only the members of struct sched_ext_ops that are in use. libbpf finds each member by its name in
 * the kernel's struct.
 */
struct sched_ext_ops {
	void (*enqueue)(struct task_struct *p, u64 flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	s32 (*cgroup_init)(struct cgroup *cgrp, struct scx_cgroup_init_args *args);
	void (*cgroup_exit)(struct cgroup *cgrp);
	s32 (*init)(void);
	u64 flags;
	char name[128];
};

#define SHARED 1

/* Scheduler subtick_fifo: one FIFO queue for all tasks and cores. */

SEC("struct_ops/enqueue")
int BPF_PROG(fifo_enqueue, struct task_struct *p, u64 flags)
{
	scx_bpf_dsq_insert(p, SHARED, SCX_SLICE_NS, flags);
	return 0;
}

SEC("struct_ops/dispatch")
int BPF_PROG(fifo_dispatch, s32 cpu, struct task_struct *prev)
{
	scx_bpf_dsq_move_to_local(SHARED);
	return 0;
}

SEC("struct_ops/init")
int BPF_PROG(fifo_init)
{
	return scx_bpf_create_dsq(SHARED, -1);
}

SEC(".struct_ops")
struct sched_ext_ops fifo = {
	.enqueue = (void *)fifo_enqueue,
	.dispatch = (void *)fifo_dispatch,
	.init = (void *)fifo_init,
	.name = "subtick_fifo",
};

/*
 * Scheduler subtick_groups: a queue per cgroup. The scheduler serves the queues of the cgroups in
 * rotation.
 */

/* Maximum number of cgroups with a separate queue. Tasks of all other cgroups use queue SHARED. */
#define GROUPS_MAX 32

/*
 * IDs of cgroups with a separate queue. A queue has the same ID as its cgroup. The value 0 marks a
 * free entry of queues[].
 */
__u64 queues[GROUPS_MAX];
__u32 turn;

static u64 queue_of(u64 id)
{
	for (u32 i = 0; i < GROUPS_MAX; i++)
		if (queues[i] == id)
			return id;
	return SHARED;
}

SEC("struct_ops/enqueue")
int BPF_PROG(groups_enqueue, struct task_struct *p, u64 flags)
{
	struct cgroup *cgrp = scx_bpf_task_cgroup(p);
	u64 queue = SHARED;

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
	scx_bpf_dsq_move_to_local(SHARED);
	return 0;
}

SEC("struct_ops/cgroup_init")
int BPF_PROG(groups_cgroup_init, struct cgroup *cgrp, struct scx_cgroup_init_args *args)
{
	u64 id = cgrp->kn->id;

	/* The root cgroup has ID 1 and uses queue SHARED. */
	for (u32 i = 0; i < GROUPS_MAX && id != SHARED; i++)
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
	return scx_bpf_create_dsq(SHARED, -1);
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
