/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Keeps, per CPU, how its time divides into contexts: two partitions in a mapped array. */
#include "kernel.bpf.h"
#include "hist.bpf.h"
#include "abi/load.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PWR_EVENT_EXIT ((u32)-1)

/* Set by user space before loading; kernel names for the types, as the skeleton repeats them. */
const volatile bool want_bursts;
const volatile bool want_pmu;
/* sched_switch had prev_state before prev in 5.18 only; found by BTF, not by version. */
const volatile bool switch_state_first;
/* Idle context of a core that has shown no event yet: LOAD_POLL under idle=poll or nohlt. */
const volatile __u32 first_idle = LOAD_HALT;

/* Set once everything is attached: edges before it would see half of the programs. */
__u64 start_ns;
/* Bumped by every CPU hotplug step, so that readers look at the online mask only then. */
__u64 hotplug_steps;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct load_slot);
} slots SEC(".maps");

struct bursts {
	u64 count[HIST_NR];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct bursts);
} bursts SEC(".maps");

/* Bit n: idle state n of that CPU polls. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} poll_states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct load_cpu_note);
} notes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} counters SEC(".maps");

/*
 * What every edge begins with: this CPU's slot and the time, or NULL while not everything is
 * attached yet.
 */
static __always_inline struct load_slot *edge(u32 *ret_cpu, u64 *ret_now)
{
	u64 start = start_ns;
	u32 cpu = bpf_get_smp_processor_id();

	if (!start)
		return NULL;
	*ret_cpu = cpu;
	*ret_now = bpf_ktime_get_ns() - start;
	return bpf_map_lookup_elem(&slots, &cpu);
}

/* The stamp of an edge: never before the last one, so that no interval is negative. */
static __always_inline u64 after(u64 now, u64 word)
{
	return now < word >> 8 ? word >> 8 : now;
}

static __always_inline void pmu_sample(struct load_slot *s, u64 now)
{
	struct bpf_perf_event_value value = {};

	if (bpf_perf_event_read_value(&counters, BPF_F_CURRENT_CPU, &value, sizeof(value))) {
		s->pmu_errors++;
		return;
	}
	/* Another core may see these three in any order; the check word tells it. */
	s->pmu_cycles = value.counter;
	s->pmu_ns = now;
	s->pmu_check = value.counter ^ now;
}

/*
 * Closes the open base context and opens @ctx. @before is what an as yet unknown core must have
 * been doing for this edge to come first.
 */
static __always_inline void base_enter(struct load_slot *s, u64 now, u32 ctx, u32 before)
{
	u64 base;
	u32 was;

	/* Only this CPU's interrupts look: order for the compiler is order enough. */
	s->moving = ctx + 1;
	barrier();
	base = s->base;
	was = base ? base & 0xff : before;
	now = after(now, base);
	s->base_ns[was & (LOAD_NR_CTX - 1)] += now - (base >> 8);
	s->base = now << 8 | ctx;
	barrier();
	s->moving = 0;
}

/* The open context, LOAD_UNKNOWN before the first edge. */
static __always_inline u32 base_ctx(const struct load_slot *s)
{
	return s->base ? s->base & 0xff : LOAD_UNKNOWN;
}

static __always_inline bool is_idle(u32 ctx)
{
	return ctx <= LOAD_LOOP;
}

static __always_inline u32 comm_ctx(const char *comm)
{
	/* kernel threads only: nobody else can take these names and do softirq work */
	if (comm[0] == 'k' && comm[1] == 's' && comm[2] == 'o' && comm[3] == 'f' &&
	    comm[4] == 't' && comm[5] == 'i')
		return LOAD_KSOFTIRQD;
	if (comm[0] == 'n' && comm[1] == 'a' && comm[2] == 'p' && comm[3] == 'i' && comm[4] == '/')
		return LOAD_KSOFTIRQD;
	return LOAD_TASK;
}

static __always_inline u32 task_ctx(struct task_struct *task)
{
	char comm[8];

	if (!task->pid)
		return LOAD_LOOP;
	if (!(task->flags & PF_KTHREAD))
		return LOAD_TASK;
	if (bpf_probe_read_kernel(comm, sizeof(comm), task->comm))
		return LOAD_TASK;
	return comm_ctx(comm);
}

/* What current is, for the first edge of a core only. */
static __noinline u32 current_ctx(void)
{
	char comm[16];

	if (!(u32)bpf_get_current_pid_tgid())
		return LOAD_LOOP;
	if (bpf_get_current_comm(comm, sizeof(comm)))
		return LOAD_TASK;
	return comm_ctx(comm);
}

static __always_inline void burst_begin(struct load_slot *s, u64 now)
{
	if (want_bursts && !s->burst_start)
		s->burst_start = now;
}

static __always_inline void burst_end(struct load_slot *s, u32 cpu, u64 now)
{
	struct bursts *b;

	if (!want_bursts || !s->burst_start)
		return;
	b = bpf_map_lookup_elem(&bursts, &cpu);
	if (b)
		b->count[hist_bucket(now - s->burst_start) & (HIST_NR - 1)]++;
	s->burst_start = 0;
}

SEC("tp_btf/cpu_idle")
int BPF_PROG(load_idle, u32 state, u32 event_cpu)
{
	struct load_slot *s;
	u64 now, *polls;
	u32 cpu, to = LOAD_HALT;

	s = edge(&cpu, &now);
	if (!s)
		return 0;
	if (state == PWR_EVENT_EXIT) {
		base_enter(s, now, LOAD_LOOP, first_idle);
		burst_begin(s, now);
		/* A halted counter stood still, so the value at entry still holds here. */
		return 0;
	}
	polls = bpf_map_lookup_elem(&poll_states, &cpu);
	if (polls && state < 64 && (*polls >> state & 1))
		to = LOAD_POLL;
	base_enter(s, now, to, LOAD_LOOP);
	burst_end(s, cpu, now);
	if (want_pmu)
		pmu_sample(s, now);
	return 0;
}

/*
 * PREEMPT_RT runs softirqs in threads that can be preempted: the running vector goes with its
 * task and comes back with it.
 */
static __always_inline void softirq_pause(struct load_slot *s, u32 pid)
{
	u32 vec = s->vec;

	s->vec = 0;
	for (int i = 0; i < LOAD_NR_PAUSED; i++) {
		if (s->paused[i].pid)
			continue;
		s->paused[i].pid = pid;
		s->paused[i].vec = vec;
		return;
	}
	s->paused_lost++;
}

static __always_inline bool softirq_resume(struct load_slot *s, u32 pid)
{
	for (int i = 0; i < LOAD_NR_PAUSED; i++) {
		if (s->paused[i].pid != pid)
			continue;
		s->vec = s->paused[i].vec;
		s->paused[i].pid = 0;
		return true;
	}
	return false;
}

static __always_inline void vec_begin(struct load_slot *s, u64 now)
{
	s->vec_start = now;
	s->vec_hirq_in = s->hirq_in_ns;
}

static __always_inline void vec_end(struct load_slot *s, u64 now)
{
	u64 ran = now - s->vec_start, hirq = s->hirq_in_ns - s->vec_hirq_in;
	u32 vec = s->vec - 1;

	if (vec < LOAD_NR_VECS && ran >= hirq)
		s->vec_ns[vec] += ran - hirq;
}

/* No switch happens inside a handler: if one seems open, its exit was lost. Believe no more of it. */
static __noinline void hirq_heal(struct load_slot *s, u64 now)
{
	u64 hirq = s->hirq;

	now = after(now, hirq);
	s->hirq_out_ns += now - (hirq >> 8);
	s->hirq = now << 8;
	s->odd_edges++;
}

SEC("tp_btf/sched_switch")
int load_switch(u64 *ctx)
{
	struct task_struct *prev, *next;
	struct load_slot *s;
	u32 cpu, to;
	u64 now;

	s = edge(&cpu, &now);
	if (!s)
		return 0;
	switch_tasks(ctx, switch_state_first, &prev, &next);
	if (s->hirq & 0xff)
		hirq_heal(s, now);
	if (s->vec) {
		vec_end(s, now);
		softirq_pause(s, prev->pid);
	}
	to = task_ctx(next);
	base_enter(s, now, to, s->base ? LOAD_TASK : task_ctx(prev));
	/* Only a preempted softirq leaves anything in paused[]; one load tells the common case. */
	if ((s->paused[0].pid | s->paused[1].pid | s->paused[2].pid | s->paused[3].pid) &&
	    to != LOAD_LOOP && softirq_resume(s, next->pid)) {
		vec_begin(s, now);
		s->under = to;
		if (to == LOAD_TASK)
			s->base = (s->base & ~0xffULL) | LOAD_SOFTIRQ_TASK;
	}
	if (want_pmu)
		pmu_sample(s, now);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(load_softirq_entry, u32 vec)
{
	struct load_slot *s;
	u32 cpu, under;
	u64 now;

	s = edge(&cpu, &now);
	if (!s)
		return 0;
	if (s->moving) {
		/* The interrupt that brought this softirq cut an edge in two; see abi/load.h. */
		s->odd_edges++;
		return 0;
	}
	under = base_ctx(s);
	if (under == LOAD_UNKNOWN)
		under = current_ctx();
	if (under == LOAD_SOFTIRQ_IDLE || under == LOAD_SOFTIRQ_TASK) {
		/* An exit got lost: stay in the softirq that is open. */
		s->odd_edges++;
		under = s->under;
	} else {
		if (under == LOAD_HALT) {
			/* Woken by an interrupt that has no tracepoint. */
			base_enter(s, now, LOAD_TAIL, LOAD_HALT);
			burst_begin(s, now);
			under = LOAD_TAIL;
		}
		s->under = under;
		if (under != LOAD_KSOFTIRQD)
			base_enter(s, now, is_idle(under) ? LOAD_SOFTIRQ_IDLE : LOAD_SOFTIRQ_TASK,
				   under);
	}
	s->vec = vec + 1;
	vec_begin(s, now);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(load_softirq_exit, u32 vec)
{
	struct load_slot *s;
	u32 cpu, was;
	u64 now;

	s = edge(&cpu, &now);
	if (!s)
		return 0;
	if (s->moving) {
		s->odd_edges++;
		return 0;
	}
	was = base_ctx(s);
	if (was == LOAD_UNKNOWN) {
		/* In a softirq since before the start. */
		u32 under = current_ctx();

		base_enter(s, now, under,
			   under == LOAD_LOOP ? LOAD_SOFTIRQ_IDLE :
			   under == LOAD_TASK ? LOAD_SOFTIRQ_TASK : under);
		return 0;
	}
	if (s->vec != vec + 1) {
		s->odd_edges++;
		return 0;
	}
	vec_end(s, now);
	if (vec < LOAD_NR_VECS)
		s->vec_count[vec]++;
	s->vec = 0;
	if (was >= LOAD_SOFTIRQ_IDLE)
		base_enter(s, now, s->under, was);
	return 0;
}

static __always_inline int hirq_enter(void)
{
	struct load_slot *s;
	u64 now, hirq, base;
	u32 cpu, ctx;

	s = edge(&cpu, &now);
	if (!s)
		return 0;
	hirq = s->hirq;
	if (hirq & 0xff) {
		/* A handler inside another (arm64: ipi_entry inside irq_handler_entry). */
		s->hirq = hirq + 1;
		return 0;
	}
	now = after(now, hirq);
	s->hirq_out_ns += now - (hirq >> 8);
	s->hirq = now << 8 | 1;

	base = s->base;
	ctx = base_ctx(s);
	/* An edge under way has left idle already, or knows what the core does. */
	if (ctx == LOAD_TASK || ctx == LOAD_LOOP || s->moving)
		goto out;
	if (ctx == LOAD_HALT) {
		/* The handler runs inside the idle window (x86 sti;hlt): idle ends here. */
		base_enter(s, now, LOAD_TAIL, LOAD_HALT);
		burst_begin(s, now);
	} else if (ctx == LOAD_TAIL) {
		/* Interrupted again without having left: it was halted since the last edge. */
		u64 since = base >> 8 > hirq >> 8 ? base >> 8 : hirq >> 8;

		if (since <= now) {
			s->base_ns[LOAD_TAIL] += since - (base >> 8);
			s->base_ns[LOAD_HALT] += now - since;
			s->base = now << 8 | LOAD_TAIL;
		}
	} else if (ctx == LOAD_UNKNOWN) {
		/* Had the core left idle first, the idle exit would have been the first edge. */
		ctx = current_ctx();
		if (ctx == LOAD_LOOP)
			base_enter(s, now, LOAD_TAIL, first_idle);
		else
			base_enter(s, now, ctx, ctx);
		burst_begin(s, now);
	}
out:
	/* The tick comes this way: a busy core's counter is never older than that. */
	if (want_pmu)
		pmu_sample(s, now);
	return 0;
}

static __always_inline int hirq_leave(void)
{
	struct load_slot *s;
	u64 now, hirq, ns;
	u32 cpu;

	s = edge(&cpu, &now);
	if (!s)
		return 0;
	hirq = s->hirq;
	if ((hirq & 0xff) > 1) {
		s->hirq = hirq - 1;
		return 0;
	}
	if (!(hirq & 0xff) && hirq) {
		s->odd_edges++;
		return 0;
	}
	now = after(now, hirq);
	ns = now - (hirq >> 8);
	if (!hirq && !s->base) {
		/* In this handler since before the start. */
		u32 ctx = current_ctx();

		base_enter(s, now, ctx, ctx);
		s->hirq_ns[ctx & (LOAD_NR_CTX - 1)] += ns;
	} else if (!hirq) {
		/* Base edges came first, so the handler began after the start, unseen. */
		s->hirq_out_ns += ns;
		s->hirq = now << 8;
		s->odd_edges++;
		return 0;
	} else {
		/* The edge under way has taken its stamp: this handler lies in what it enters. */
		u64 ctx = s->moving ? s->moving - 1 : s->base;

		s->hirq_ns[ctx & (LOAD_NR_CTX - 1)] += ns;
	}
	s->hirq_in_ns += ns;
	s->hirq = now << 8;
	return 0;
}

#define HIRQ_PAIR(name, entry, exit)                                                               \
	SEC("tp_btf/" entry) int load_##name##_enter(void *ctx)                                    \
	{                                                                                          \
		return hirq_enter();                                                               \
	}                                                                                          \
	SEC("tp_btf/" exit) int load_##name##_leave(void *ctx)                                     \
	{                                                                                          \
		return hirq_leave();                                                               \
	}

HIRQ_PAIR(irq, "irq_handler_entry", "irq_handler_exit")
/* arm64 */
HIRQ_PAIR(ipi, "ipi_entry", "ipi_exit")
/* x86: vectors that irq_handler_entry does not see */
HIRQ_PAIR(local_timer, "local_timer_entry", "local_timer_exit")
HIRQ_PAIR(reschedule, "reschedule_entry", "reschedule_exit")
HIRQ_PAIR(call_function, "call_function_entry", "call_function_exit")
HIRQ_PAIR(call_function_single, "call_function_single_entry", "call_function_single_exit")
HIRQ_PAIR(irq_work, "irq_work_entry", "irq_work_exit")
HIRQ_PAIR(platform_ipi, "x86_platform_ipi_entry", "x86_platform_ipi_exit")
HIRQ_PAIR(thermal, "thermal_apic_entry", "thermal_apic_exit")
HIRQ_PAIR(threshold, "threshold_apic_entry", "threshold_apic_exit")
HIRQ_PAIR(deferred_error, "deferred_error_apic_entry", "deferred_error_apic_exit")
HIRQ_PAIR(error_apic, "error_apic_entry", "error_apic_exit")
HIRQ_PAIR(spurious_apic, "spurious_apic_entry", "spurious_apic_exit")

SEC("tp_btf/cpuhp_enter")
int BPF_PROG(load_hotplug_enter, u32 target)
{
	struct load_cpu_note *note = bpf_map_lookup_elem(&notes, &target);

	if (note)
		__sync_fetch_and_add(&note->hotplug_steps, 1);
	__sync_fetch_and_add(&hotplug_steps, 1);
	return 0;
}

SEC("tp_btf/cpuhp_exit")
int BPF_PROG(load_hotplug_exit, u32 target)
{
	/* The mask changes between the two: count both, or a reader could stop too early. */
	__sync_fetch_and_add(&hotplug_steps, 1);
	return 0;
}

/*
 * A NO_HZ core may show no event for seconds. Whoever is on a CPU while the tasks are walked was
 * running there all along if that CPU still has no event; a CPU on which nobody was is idle.
 */
SEC("iter/task")
int load_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct load_cpu_note *note;
	u32 cpu;

	if (!task || !task->on_cpu)
		return 0;
	if (bpf_core_field_exists(((struct task_struct___cpu *)0)->cpu))
		cpu = BPF_CORE_READ((struct task_struct___cpu *)task, cpu);
	else
		cpu = BPF_CORE_READ(task, thread_info.cpu);
	note = bpf_map_lookup_elem(&notes, &cpu);
	if (note)
		note->seed_ctx = task_ctx(task) + 1;
	return 0;
}
