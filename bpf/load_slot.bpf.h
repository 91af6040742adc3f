/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory of a core, and changes of its base context (abi/load.h). */
#ifndef SUBTICK_BPF_LOAD_SLOT_H
#define SUBTICK_BPF_LOAD_SLOT_H

#include "task.bpf.h"
#include "hist.bpf.h"
#include "map.bpf.h"
#include "abi/core.h"

/*
 * Constants that user space sets before it loads the programs. The type of each constant must have
 * the name that bpftool uses in the skeleton.
 */
/* True if the tracepoint sched_switch has its argument prev_state before prev, as in Linux 5.18. */
const volatile bool switch_state_first;
/*
 * Context of an idle core before its first event: LOAD_POLL if the kernel was started with
 * idle=poll or nohlt.
 */
const volatile __u32 first_idle = LOAD_HALT;

/*
 * Number of CPU hotplug steps. Readers check the online mask only if the number of hotplug steps
 * has changed.
 */
__u64 hotplug_steps SEC(".data");

/* User space shrinks .bss to the number of CPUs, so cores[] must be the only variable in .bss. */
struct core_block cores[CORE_MAX_CPUS];

struct bursts {
	u64 count[HIST_NR];
};

MAPPED_ARRAY(bursts, struct bursts);

MAPPED_ARRAY(notes, struct load_cpu_note);

MAP(counters, PERF_EVENT_ARRAY, 0, 1, u32, u32);

/* Returns the struct core_block of CPU @cpu, which must be below the number of blocks. */
static __always_inline struct core_block *core_masked(u64 cpu)
{
	struct core_block *core = (void *)((char *)cores + cpu * CORE_BLOCK_SIZE);

	/* Without the asm barrier, clang computes the address `core` again for each member. */
	asm volatile("" : "+r"(core));
	return core;
}

static __always_inline struct core_block *core_at(u64 cpu)
{
	FILLED_AND(cpu, CORE_FILLED_CPU_MASK);
	return core_masked(cpu);
}

static __always_inline struct load_slot *slot_at(u64 cpu)
{
	return &core_at(cpu)->load;
}

/* Returns true before the start of the measurement. @now is the time since the start. */
static __always_inline bool before_start(u64 now)
{
	return (s64)now < 0;
}

/*
 * Gets the slot of the current CPU and the time since the start of the measurement. Returns false
 * before the start of the measurement.
 */
static __always_inline bool edge(struct load_slot **ret_slot, u64 *ret_now)
{
	u64 now = bpf_ktime_get_ns();

	*ret_slot = slot_at(cpu_number());
	*ret_now = now - (*ret_slot)->start_ns;
	return !before_start(*ret_now);
}

/*
 * Returns the later one of @now and the previous timestamp in @word, so that no interval is
 * negative.
 */
static __always_inline u64 after(u64 now, u64 word)
{
	u64 since = word >> 8;

	/*
	 * the asm statement forces clang to emit a branch: a rarely taken branch is cheaper than a
	 * conditional move
	 */
	if (now < since) {
		now = since;
		asm volatile("" : "+r"(now));
	}
	return now;
}

static __noinline int pmu_sample(struct load_slot *s, u64 now)
{
	struct bpf_perf_event_value value = {};

	if (bpf_perf_event_read_value(&counters, BPF_F_CURRENT_CPU, &value, sizeof(value))) {
		s->pmu_errors++;
		return 0;
	}
	/*
	 * A reader on another core may see the stores to pmu_cycles, pmu_ns and pmu_check in any
	 * order. The reader checks pmu_check to detect a torn read.
	 */
	s->pmu_cycles = value.counter;
	s->pmu_ns = now;
	s->pmu_check = ~(value.counter ^ now);
	return 0;
}

/* Sets @ctx as the context that a core had before its first event. */
static __always_inline void base_first(struct load_slot *s, u32 ctx)
{
	if (!s->base)
		s->base = ctx;
}

/*
 * Has the same effect as base_move() if @from is the current context. @from is a constant, and
 * @base is the current value of s->base.
 */
static __always_inline void base_move_from(struct load_slot *s, u64 base, u64 now, u32 from, u32 ctx)
{
	now = after(now, base);
	s->base_ns[from] += now - (base >> 8);
	s->base = now << 8 | ctx;
}

/*
 * Ends the interval of the current base context and begins an interval of @ctx; interrupts must be
 * off.
 */
static __always_inline void base_move(struct load_slot *s, u64 now, u64 ctx)
{
	u64 base = s->base;

	now = after(now, base);
	s->base_ns[base & (LOAD_NR_CTX - 1)] += now - (base >> 8);
	s->base = now << 8 | ctx;
}

/*
 * Changes the base context to @ctx while interrupts may be enabled. While MOVING() changes the base
 * context, programs on interrupts of this CPU do not change it (load_slot.moving).
 */
#define MOVING(s, ctx, change)           \
	do {                             \
		(s)->moving = (ctx) + 1; \
		barrier();               \
		change;                  \
		barrier();               \
		(s)->moving = 0;         \
	} while (0)

static __always_inline void base_enter(struct load_slot *s, u64 now, u32 ctx)
{
	MOVING(s, ctx, base_move(s, now, ctx));
}

/*
 * Has the same effect as base_enter(), but the event may be the first event of the core. @before is
 * the context before the event.
 */
static __always_inline void base_enter_first(struct load_slot *s, u64 now, u32 ctx, u32 before)
{
	MOVING(s, ctx, base_first(s, before); base_move(s, now, ctx));
}

/* Returns the current base context, or LOAD_HALT before the first event. */
static __always_inline u32 base_ctx(const struct load_slot *s)
{
	return *(const u8 *)&s->base;
}

static __always_inline u32 hirq_depth(const struct load_slot *s)
{
	return *(const u8 *)&s->hirq;
}

/*
 * Returns the task time of a core without hardirqs. Callers must call task_ns() just after a task
 * switch has ended the current interval.
 */
static __always_inline u64 task_ns(const struct load_slot *s)
{
	return s->base_ns[LOAD_TASK] + s->base_ns[LOAD_KSOFTIRQD] - s->hirq_ns[LOAD_TASK] -
	       s->hirq_ns[LOAD_KSOFTIRQD];
}

static __always_inline bool is_idle(u32 ctx)
{
	return ctx <= LOAD_LOOP;
}

/*
 * Context of a kernel thread. @name is the first eight characters of the thread's name as a
 * little-endian word.
 */
static __always_inline u32 thread_ctx(u64 name)
{
	bool ksoftirqd = name << 16 >> 16 == 0x6974666f736b; /* bytes of "ksofti" */
	bool napi = name << 24 >> 24 == 0x2f6970616e;	     /* bytes of "napi/" */
	/* Under PREEMPT_RT, the thread backlog_napi/N handles packets that RPS steers to core N. */
	bool backlog = name == 0x5f676f6c6b636162; /* bytes of "backlog_" */

	return ksoftirqd || napi || backlog ? LOAD_KSOFTIRQD : LOAD_TASK;
}

static __always_inline u32 task_ctx(struct task_struct *task)
{
	u64 name;

	if (!task->pid)
		return LOAD_LOOP;
	if (!(task->flags & PF_KTHREAD))
		return LOAD_TASK;
	if (bpf_probe_read_kernel(&name, sizeof(name), task->comm))
		return LOAD_TASK;
	return thread_ctx(name);
}

/* Returns the context of a core according to its current task, for the first event of the core. */
static __noinline u32 current_ctx(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	u64 name[2];

	if (!(u32)bpf_get_current_pid_tgid())
		return LOAD_LOOP;
	if (!(BPF_CORE_READ(task, flags) & PF_KTHREAD) || bpf_get_current_comm(name, sizeof(name)))
		return LOAD_TASK;
	return thread_ctx(name[0]);
}

static __always_inline void burst_begin(struct load_slot *s, u64 now)
{
	if (FILLED_FLAG(LOAD_FILLED_BURSTS) && !s->burst_start)
		s->burst_start = now;
}

static __always_inline void burst_end(struct load_slot *s, u32 cpu, u64 now)
{
	struct bursts *b;

	if (!FILLED(LOAD_FILLED_BURSTS) || !s->burst_start)
		return;
	b = bpf_map_lookup_elem(&bursts, &cpu);
	/* CLOCK_MONOTONIC may go back by a few ns when the kernel adjusts the clock */
	if (b && now >= s->burst_start)
		b->count[hist_bucket(now - s->burst_start) & (HIST_NR - 1)]++;
	s->burst_start = 0;
}

#endif
