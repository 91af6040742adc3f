/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replaces bpf/kernel.bpf.h, so that tests can call BPF programs as C functions. */
#ifndef SUBTICK_TESTS_UNIT_BPF_SHIM_H
#define SUBTICK_TESTS_UNIT_BPF_SHIM_H

#define SUBTICK_BPF_KERNEL_H /* include guard of bpf/kernel.bpf.h, which this file replaces */

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

/*
 * With __always_inline and sanitizers, gcc takes half a minute to compile a function that has
 * hundreds of callers.
 */
#undef __always_inline
#define __always_inline inline
#define SEC(name)
#define __uint(name, val)		int(*name)[val]
#define __type(name, val)		typeof(val) *name
#define BPF_PROG(name, ...)		name(u64 *args, ##__VA_ARGS__)
#define __noinline			__attribute__((noinline))
#define bpf_core_field_exists(field)	shim_has(#field)
#define bpf_core_enum_value(type, name) 0
#define bpf_core_enum_value_exists(type, name) shim_has(#name)
#define SHIM_READ_1(from, a)		((from)->a)
#define SHIM_READ_2(from, a, b)		((from)->a->b)
#define SHIM_READ_3(from, a, b, c)	((from)->a->b->c)
#define SHIM_READ(a, b, c, read, ...)	read
#define BPF_CORE_READ(from, ...) \
	SHIM_READ(__VA_ARGS__, SHIM_READ_3, SHIM_READ_2, SHIM_READ_1, )(from, __VA_ARGS__)

#define PWR_EVENT_EXIT ((u32)-1)
#define CSS_ONLINE (1 << 1)
#define PF_EXITING   0x00000004
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD   0x00200000

/*
 * task_struct has the fields of all kernel versions. shim_fields lists the fields of the simulated
 * version.
 */
#define task_struct___cpu    task_struct
#define task_struct___old    task_struct
#define task_struct___new    task_struct
#define task_struct___throttled task_struct
#define task_struct___allowed task_struct
#define task_struct___worker task_struct
#define task_struct___child  task_struct
#define rq___state	     rq
#define cfs_rq___self	     cfs_rq
#define cfs_rq___pelt	     cfs_rq
#define cfs_rq___task	     cfs_rq
#define cfs_rq___count	     cfs_rq
#define cfs_rq___own	     cfs_rq
#define kernfs_node___parent kernfs_node
#define kernfs_node___rcu    kernfs_node

struct kernfs_node {
	const char *name;
	u64 id;
	struct kernfs_node *parent, *__parent;
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

struct rq {
	unsigned int nr_running;
	u64 clock;
	struct task_struct *curr;
	int online;
};

struct cfs_rq {
	struct rq *rq;
	u64 throttled_clock_self, throttled_clock;
	u64 throttled_clock_self_time;
	u64 throttled_clock_pelt_time;
	u64 throttled_clock_task_time;
	int throttle_count, throttled;
};

struct task_struct {
	struct {
		u32 cpu;
	} thread_info;
	u32 cpu;
	int pid;
	int tgid;
	unsigned int flags;
	unsigned int on_cpu, on_rq;
	struct task_struct *real_parent;
	int nr_cpus_allowed;
	const void *cpus_ptr;
	struct {
		unsigned long bits[16];
	} cpus_mask;
	bool throttled;
	unsigned int __state;
	long state;
	u64 start_time;
	char comm[16];
	struct {
		unsigned int on_rq;
		u64 exec_start;
		u64 sum_exec_runtime;
		struct cfs_rq *cfs_rq;
		unsigned int depth;
	} se;
	struct {
		unsigned long long run_delay;
		unsigned long long last_arrival;
		unsigned long long last_queued;
	} sched_info;
	struct css_set *cgroups;
	void *worker_private, *set_child_tid;
};

struct kthread {
	void *data;
};

struct worker {
	void *current_func;
};

struct work_struct {
	void *func;
};

struct sched_entity {
	u64 exec_start;
	struct cfs_rq *cfs_rq;
	unsigned int depth;
};

struct hrtimer_clock_base {
	s64 offset;
};

struct hrtimer {
	struct {
		s64 expires;
	} node;
	s64 _softexpires;
	void *function;
	struct hrtimer_clock_base *base;
};

struct irqaction {
	struct irqaction *next;
	const char *name;
};

struct cpumask {
	unsigned long bits[64];
};

struct bpf_iter__task {
	struct task_struct *task;
};

/* The tests set the variables from shim_now to shim_symbol. */
static u64 shim_now;
static u32 shim_cpu;
static struct task_struct *shim_current;
/*
 * Names of the struct fields and BPF helpers of the simulated kernel. A blank precedes and follows
 * each name.
 */
static const char *shim_fields = "";
/* Points to the value of the hardware counter, or is NULL if each read of the counter fails. */
static const u64 *shim_counter;
/* Function that is called at each barrier() of a BPF program, to simulate an interrupt. */
static void (*shim_at_barrier)(void);
/* Returns the symbol that the kernel prints for the address of a function. */
static const char *(*shim_symbol)(u64 address);

static inline bool shim_has(const char *field)
{
	const char *arrow = strrchr(field, '>'), *name = arrow ? arrow + 1 : field;
	const char *at = shim_fields;
	size_t len = strlen(name);

	while ((at = strstr(at, name))) {
		if (at[-1] == ' ' && at[len] == ' ')
			return true;
		at += len;
	}
	return false;
}

static inline u64 bpf_ktime_get_ns(void)
{
	return shim_now;
}

static inline u32 bpf_get_smp_processor_id(void)
{
	return shim_cpu;
}

static inline u64 bpf_get_current_pid_tgid(void)
{
	return (u64)shim_current->tgid << 32 | shim_current->pid;
}

static inline u64 bpf_get_current_cgroup_id(void)
{
	return shim_current->cgroups->dfl_cgrp->kn->id;
}

static inline u64 bpf_get_current_task(void)
{
	return (unsigned long)shim_current;
}

static inline struct task_struct *bpf_get_current_task_btf(void)
{
	return shim_current;
}

static inline long bpf_get_current_comm(void *buf, u32 size)
{
	memcpy(buf, shim_current->comm, size);
	return 0;
}

static inline long bpf_probe_read_kernel(void *to, u32 size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

static inline long bpf_probe_read_kernel_str(void *to, u32 size, const char *from)
{
	size_t len = strlen(from) < size ? strlen(from) : size - 1;

	memcpy(to, from, len);
	((char *)to)[len] = '\0';
	return len + 1;
}

/* The BPF programs use bpf_snprintf() only to print the symbol of an address. */
#define BPF_SNPRINTF(to, size, format, address) shim_symbol_str(to, size, address)

static inline long shim_symbol_str(void *to, u32 size, u64 address)
{
	return bpf_probe_read_kernel_str(to, size, shim_symbol(address));
}

static inline long bpf_perf_event_read_value(void *map, u64 flags,
					     struct bpf_perf_event_value *value, u32 size)
{
	if (!shim_counter)
		return -2;
	value->counter = *shim_counter;
	return 0;
}

static inline void barrier(void)
{
	__asm__ volatile("" ::: "memory");
	if (shim_at_barrier)
		shim_at_barrier();
}

/*
 * In Linux 5.18, and in no other version, prev_state is the argument of sched_switch before prev
 * and next.
 */
static inline struct task_struct *switch_prev(u64 *args, bool state_first)
{
	return (struct task_struct *)(unsigned long)args[state_first ? 2 : 1];
}

static inline struct task_struct *switch_next(u64 *args, bool state_first)
{
	return (struct task_struct *)(unsigned long)args[state_first ? 3 : 2];
}

static inline void switch_tasks(u64 *args, bool state_first, struct task_struct **ret_prev,
				struct task_struct **ret_next)
{
	*ret_prev = switch_prev(args, state_first);
	*ret_next = switch_next(args, state_first);
}

static inline u64 cpu_number(void)
{
	return shim_cpu;
}

#define ADD_POINTER(reg, pointer) ((reg) += (unsigned long)(pointer))
#define ADD_CONST(reg, value)	  ((reg) += (value))
/* Constant that user space writes into the BPF instructions before loading. */
#define FILLED(mark)		shim_filled(mark)
#define FILLED_FLAG(mark)	(!!shim_filled(mark))
#define FILLED_MUL(reg, mark)	((reg) *= shim_filled(mark))
#define FILLED_AND(reg, mark)	((reg) &= shim_filled(mark))
#define FILLED_BELOW(reg, mark)                  \
	do {                                     \
		if ((reg) >= shim_filled(mark)) \
			return 0;                \
	} while (0)

/* Each test program defines bpf_map_lookup_elem() together with its simulated BPF maps. */
static void *bpf_map_lookup_elem(void *map, const void *key);

#endif
