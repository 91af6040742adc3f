/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the two sched_ext schedulers share: kernel types, kernel functions, the table of operations. */
#ifndef SUBTICK_TESTS_TRUTH_SCX_BPF_H
#define SUBTICK_TESTS_TRUTH_SCX_BPF_H

#include "bpf/kernel.bpf.h"

#define SCX_SLICE_NS (4 * 1000 * 1000ULL)

/* Linux 6.13 renamed the kernel functions of 6.12. */
void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq, u64 slice_ns, u64 flags) __ksym;
bool scx_bpf_dsq_move_to_local(u64 dsq) __ksym;
s32 scx_bpf_create_dsq(u64 dsq, s32 node) __ksym;
void scx_bpf_destroy_dsq(u64 dsq) __ksym;

struct scx_cgroup_init_args;

/* Only the members in use; libbpf finds each by its name in the kernel's struct. */
struct sched_ext_ops {
	void (*enqueue)(struct task_struct *p, u64 flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	s32 (*cgroup_init)(struct cgroup *cgrp, struct scx_cgroup_init_args *args);
	void (*cgroup_exit)(struct cgroup *cgrp);
	s32 (*init)(void);
	u64 flags;
	char name[128];
};

#endif
