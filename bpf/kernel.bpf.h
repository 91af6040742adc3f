/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Declares kernel types with only the fields that the BPF programs use (CO-RE). */
#ifndef SUBTICK_BPF_KERNEL_H
#define SUBTICK_BPF_KERNEL_H

/*
 * Hides the definition of bpf_iter_num in the headers of Linux 6.4 and later, because crit.bpf.c
 * defines bpf_iter_num itself.
 */
#define bpf_iter_num bpf_iter_num___uapi
#include <linux/bpf.h>
#undef bpf_iter_num
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define CSS_ONLINE (1 << 1)
#define PWR_EVENT_EXIT ((u32)-1)
#define PF_EXITING   0x00000004
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD   0x00200000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	const char *name;
	u64 id;
};

/* Before Linux 6.15, the field __parent had the name parent. */
struct kernfs_node___parent {
	struct kernfs_node *parent;
};

struct kernfs_node___rcu {
	struct kernfs_node *__parent;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	unsigned int flags;
	u64 serial_nr;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_subsys_state *subsys[1];
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

enum cgroup_subsys_id___core {
	cpu_cgrp_id___core,
};

struct rq {
	unsigned int nr_running;
	u64 clock;
};

struct cfs_rq {
	struct rq *rq;
};

/*
 * Throttled time of a task group on one CPU: the structs are for Linux 6.6 and later, for Linux
 * 5.19 to 6.5, and for older kernels.
 */
struct cfs_rq___self {
	/* start of the throttling by the run queue's clock; 0 if not throttled */
	u64 throttled_clock_self;
	u64 throttled_clock_self_time;
};

struct cfs_rq___pelt {
	u64 throttled_clock_pelt_time;
};

struct cfs_rq___task {
	u64 throttled_clock_task_time;
};

/*
 * A field of struct cfs_rq: positive while CPU quota throttles the group or an ancestor on this
 * CPU.
 */
struct cfs_rq___count {
	int throttle_count;
};

/*
 * Fields of a group's throttling by its own quota: the state, and the start by the run queue's
 * clock.
 */
struct cfs_rq___own {
	int throttled;
	u64 throttled_clock;
};

struct sched_entity {
	unsigned int on_rq; /* the kernel's on_rq is a u8 since Linux 6.12 */
	u64 exec_start;
	u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
	unsigned int depth; /* nesting depth of the task's group; 0 for the root group */
};

struct sched_info {
	unsigned long long run_delay;
	/* time of the task's last dispatch, by the run queue's clock; 0 for idle tasks */
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct thread_info {
	u32 cpu;
};

struct task_struct {
	struct thread_info thread_info;
	int pid;
	int tgid;
	unsigned int flags;
	/*
	 * The kernel type of on_cpu is int, and u8 in Linux 7.x. on_cpu is unsigned here, because
	 * CO-RE adapts the size of unsigned fields only.
	 */
	unsigned int on_cpu;
	unsigned int on_rq;
	u64 start_time;
	char comm[16];
	struct sched_entity se;
	struct sched_info sched_info;
	struct css_set *cgroups;
	struct task_struct *real_parent;
};

/* Linux 5.14 renamed the field `state` to `__state`. */
struct task_struct___old {
	long state;
};

struct task_struct___new {
	unsigned int __state;
};

/*
 * Since Linux 6.18 the kernel throttles tasks one by one after their group has used up its CPU
 * quota.
 */
struct task_struct___throttled {
	bool throttled;
};

/* Fields that exist only with PREEMPT_RT. */
struct task_struct___rt {
	int softirq_disable_cnt;
};

/* Before Linux 5.16, the CPU number of a task was a field of task_struct on x86. */
struct task_struct___cpu {
	u32 cpu;
};

/* Before Linux 5.17, set_child_tid of a kernel thread was the pointer to its struct kthread. */
struct task_struct___worker {
	void *worker_private;
};

struct task_struct___child {
	void *set_child_tid;
};

struct kthread {
	void *data; /* pointer to struct worker if the thread is a workqueue worker */
};

struct worker {
	void *current_func;
};

struct work_struct {
	void *func;
};

struct timerqueue_node {
	s64 expires;
};

struct hrtimer_clock_base {
	s64 offset;
};

struct hrtimer {
	struct timerqueue_node node;
	s64 _softexpires;
	void *function;
	struct hrtimer_clock_base *base;
};

struct irqaction {
	struct irqaction *next;
	const char *name;
};

struct cpumask {
	unsigned long bits[1];
};

/*
 * CPUs that the affinity and the cpuset of a task allow. The kernel's mask is longer than the mask
 * in this declaration.
 */
struct task_struct___allowed {
	int nr_cpus_allowed;
	/* points to cpus_mask unless migration is disabled for the task */
	const struct cpumask *cpus_ptr;
	struct cpumask cpus_mask;
};

struct rq___state {
	struct task_struct *curr;
	int online;
};

struct bpf_iter__task {
	struct task_struct *task;
};

#pragma clang attribute pop

/* Loads an argument of a tp_btf program from a constant offset. */
#define TP_ARG(args, offset)                                                                         \
	({                                                                                         \
		u64 __arg;                                                                         \
		asm volatile("%0 = *(u64 *)(%1 + " #offset ")" : "=r"(__arg) : "r"(args));         \
		(void *)__arg;                                                                     \
	})

/*
 * Previous and next task of sched_switch. TP_ARG() loads a task from a constant offset. clang would
 * compile plain C to a load at a computed offset, which the verifier forbids.
 */
#define switch_prev(args, state_first) ((state_first) ? TP_ARG(args, 16) : TP_ARG(args, 8))
#define switch_next(args, state_first) ((state_first) ? TP_ARG(args, 24) : TP_ARG(args, 16))

static __always_inline void switch_tasks(u64 *args, bool state_first, struct task_struct **ret_prev,
					 struct task_struct **ret_next)
{
	/* The next task is loaded first, so that prev can be stored in the register of @args. */
	*ret_next = switch_next(args, state_first);
	*ret_prev = switch_prev(args, state_first);
}

/*
 * Returns the CPU number as a 64-bit value, because clang would zero-extend a 32-bit value at each
 * use.
 */
static __always_inline u64 cpu_number(void)
{
	return ((u64(*)(void))(unsigned long)BPF_FUNC_get_smp_processor_id)();
}

/*
 * ADD_POINTER() and ADD_CONST() are one addition instruction each. clang would compile an addition
 * in C to a register copy and an addition, or to a bitwise OR.
 */
#define ADD_POINTER(reg, pointer) asm volatile("%0 += %1" : "+r"(reg) : "r"(pointer))
#define ADD_CONST(reg, value)	  asm volatile("%0 += %1" : "+r"(reg) : "i"(value))

/*
 * Immediate operand of an instruction that sys_bpf_open_filled() sets before the programs are
 * loaded. A constant in read-only data would cost two instructions: one for the address and one for
 * the load.
 */
#define FILLED(mark)                                           \
	({                                                     \
		u64 __filled;                                  \
		asm volatile("%0 = %1" : "=r"(__filled) : "i"(mark)); \
		__filled;                                      \
	})
/*
 * Tests a flag that is the immediate operand of an instruction. The two goto instructions keep
 * clang from merging a branch with other code, so that the verifier can remove the test and the
 * unused branch.
 */
#define FILLED_FLAG(mark)                               \
	({                                              \
		bool __flag = FILLED(mark);             \
		if (__flag)                             \
			asm volatile("goto +0 # set");  \
		else                                    \
			asm volatile("goto +0 # unset"); \
		__flag;                                 \
	})
#define FILLED_MUL(reg, mark) asm volatile("%0 *= %1" : "+r"(reg) : "i"(mark))
#define FILLED_AND(reg, mark) asm volatile("%0 &= %1" : "+r"(reg) : "i"(mark))
/* Ends the BPF program if @reg is not below the immediate operand. */
#define FILLED_BELOW(reg, mark) \
	asm volatile("if %0 < %1 goto +2\nr0 = 0\nexit" : : "r"(reg), "i"(mark))

#endif
