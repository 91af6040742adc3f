/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stands in for bpf/kernel.bpf.h, so that the load programs compile for the machine and can be driven. */
#ifndef SUBTICK_TESTS_UNIT_BPF_SHIM_H
#define SUBTICK_TESTS_UNIT_BPF_SHIM_H

#define SUBTICK_BPF_KERNEL_H /* not the real one */

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define SEC(name)
#define __uint(name, val)	     int(*name)[val]
#define __type(name, val)	     typeof(val) *name
#define BPF_PROG(name, ...)	     name(u64 *args, ##__VA_ARGS__)
#define __noinline		     __attribute__((noinline))
#define bpf_core_field_exists(field) 0
#define BPF_CORE_READ(from, field)   ((from)->field)
#define PF_KTHREAD		     0x00200000

struct task_struct {
	struct {
		u32 cpu;
	} thread_info;
	int pid;
	unsigned int flags;
	unsigned int on_cpu;
	char comm[16];
};

struct task_struct___cpu {
	u32 cpu;
};

struct bpf_iter__task {
	struct task_struct *task;
};

/* What the test sets; one core. */
static u64 shim_now;
static struct task_struct *shim_current;
/* Called at each barrier() inside an edge: an interrupt may come there. */
static void (*shim_at_barrier)(void);

static inline u64 bpf_ktime_get_ns(void)
{
	return shim_now;
}

static inline u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

static inline u64 bpf_get_current_pid_tgid(void)
{
	return shim_current->pid;
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

/* No counter here: programs that want one count an error. */
static inline long bpf_perf_event_read_value(void *map, u64 flags, void *value, u32 size)
{
	return -2;
}

static inline void barrier(void)
{
	__asm__ volatile("" ::: "memory");
	if (shim_at_barrier)
		shim_at_barrier();
}

/* prev before next, as in every kernel but 5.18. */
static inline void switch_tasks(u64 *args, bool state_first, struct task_struct **ret_prev,
				struct task_struct **ret_next)
{
	*ret_prev = (struct task_struct *)(unsigned long)args[1];
	*ret_next = (struct task_struct *)(unsigned long)args[2];
}

/* The test's, as it knows the maps. */
static void *bpf_map_lookup_elem(void *map, const void *key);

#endif
