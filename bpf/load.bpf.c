/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sums the time of each CPU by context: two partitions in a mapped array. */
#include "load_slot.bpf.h"
#include "load_delay.bpf.h"
#include "load_lines.bpf.h"
#include "load_senders.bpf.h"
#include "load_tasks.bpf.h"
#include "vectors.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PWR_EVENT_EXIT ((u32)-1)

/*
 * An interrupt inside the idle period has ended idle already. What follows it and the idle loop are
 * one part of the time, so that the open interval is renamed and no clock is read.
 */
static __always_inline void tail_to_loop(struct load_slot *s)
{
	s->moving = LOAD_LOOP + 1;
	barrier();
	s->base += LOAD_LOOP - LOAD_TAIL;
	barrier();
	s->moving = 0;
}

/* Not inlined: what is asked for rarely shall not cost the others a register. */
static __noinline int idle_notes(struct load_slot *s, u32 cpu, u64 now)
{
	burst_end(s, cpu, now);
	/* By the stamp of the change, also if the clock stepped back: readers compare the two. */
	if (want_pmu)
		pmu_sample(s, s->base >> 8);
	return 0;
}

/* After an interrupt inside the idle period; if that had no tracepoint, the core is awake now. */
static __always_inline void tail_wakes(struct load_slot *s)
{
	if (s->wake.wake_ns)
		s->wake.idle = 0;
	else
		passive_exit(&s->wake, bpf_ktime_get_ns());
}

static __always_inline int idle_exit(struct load_slot *s)
{
	u64 now;

	if (base_ctx(s) == LOAD_TAIL) {
		if (FILLED(LOAD_FILLED_WAKE))
			tail_wakes(s);
		tail_to_loop(s);
		return 0;
	}
	/* The stamp comes early: what this program does before it counts as idle. */
	now = bpf_ktime_get_ns();
	if (FILLED(LOAD_FILLED_WAKE))
		passive_exit(&s->wake, now);
	now -= s->start_ns;
	if (before_start(now))
		return 0;
	base_leave_idle(s, now, LOAD_LOOP);
	burst_begin(s, now);
	/* The counter stops while halted, so the value at idle entry is still right. */
	return 0;
}

/* The event is always about the CPU that it comes from. */
SEC("tp_btf/cpu_idle")
int BPF_PROG(load_idle, u32 state, u32 cpu)
{
	struct load_slot *s = slot_of(cpu);
	u32 to = LOAD_HALT;
	u64 now;

	if (state == PWR_EVENT_EXIT)
		return idle_exit(s);
	/* The stamp comes last: what this program does before it is work, and counts as such. */
	if (state < 64 && s->poll_states >> state & 1)
		to = LOAD_POLL;
	if (FILLED(LOAD_FILLED_WAKE)) {
		passive_enter(&s->wake, cpu);
		s->wake.state = state;
		s->wake.tai_ns = 0;
		s->wake.irqs = 0;
		s->wake.idle = 1;
	}
	now = bpf_ktime_get_ns();
	if (FILLED(LOAD_FILLED_WAKE))
		s->wake.tbi_ns = now;
	now -= s->start_ns;
	if (before_start(now))
		return 0;
	base_enter_first(s, now, to, LOAD_LOOP);
	if (want_bursts || want_pmu)
		idle_notes(s, cpu, now);
	return 0;
}

/*
 * PREEMPT_RT runs softirqs in threads that can be preempted: the running vector is saved when its
 * task is switched out and restored when it runs again.
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
		s->nr_paused++;
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
		s->nr_paused--;
		return true;
	}
	return false;
}

static __always_inline void vec_begin(struct load_slot *s, u64 now)
{
	s->vec_start = now - s->hirq_in_ns;
}

static __always_inline u64 vec_end(struct load_slot *s, u64 now, u64 vec)
{
	s64 ran = now - s->hirq_in_ns - s->vec_start;

	/* The clock may step back by a few ns when the kernel adjusts it. */
	ran = ran > 0 ? ran : 0;
	if (vec < LOAD_NR_VECS)
		s->vec_ns[vec] += ran;
	return ran;
}

/*
 * From task to task the context stays, and the open interval goes on: no clock is read. Unless a
 * handler's exit was lost, or a softirq was preempted and may resume.
 */
static __always_inline bool task_goes_on(const struct load_slot *s)
{
	return !want_pmu && base_ctx(s) == LOAD_TASK && !((s->hirq & 0xff) | s->nr_paused);
}

static __always_inline int switch_edge(struct load_slot *s, struct task_struct *prev,
				       struct task_struct *next, u32 to)
{
	u64 now = bpf_ktime_get_ns() - s->start_ns;

	if (before_start(now))
		return 0;
	if (s->hirq & 0xff)
		hirq_heal(s, now);
	if (s->vec) {
		vec_end(s, now, s->vec - 1);
		softirq_pause(s, prev->pid);
	}
	if (!s->base)
		s->base = task_ctx(prev);
	base_move(s, now, to);
	if (s->nr_paused && to != LOAD_LOOP && softirq_resume(s, next->pid)) {
		vec_begin(s, now);
		if (to == LOAD_TASK)
			s->base = (s->base & ~0xffULL) | LOAD_SOFTIRQ_TASK;
	}
	if (want_pmu)
		pmu_sample(s, now);
	return 0;
}

/*
 * Most switches are from a user task to another. All others are in two functions that take what
 * they need from the event again, so that this case keeps little in registers.
 */
static __noinline int switch_to_user(u64 *ctx, struct load_slot *s)
{
	struct task_struct *prev, *next;

	switch_tasks(ctx, switch_state_first, &prev, &next);
	return switch_edge(s, prev, next, LOAD_TASK);
}

static __noinline int switch_to_kernel(u64 *ctx)
{
	struct task_struct *prev, *next;
	struct load_slot *s;
	u32 to;

	switch_tasks(ctx, switch_state_first, &prev, &next);
	s = slot_of(task_cpu(next));
	to = task_ctx(next);
	if (to == LOAD_TASK && task_goes_on(s))
		return 0;
	return switch_edge(s, prev, next, to);
}

/* PREEMPT_RT: rare, so its registers are not those of each switch. */
static __noinline int noise_vec_paused(const struct load_slot *s, u32 cpu, u64 vec, u64 ns)
{
	return noise_vec(s, cpu, vec, ns);
}

static __noinline int switch_noise(u64 *ctx, struct load_slot *s)
{
	struct task_struct *prev, *next;
	u64 vec = (u64)s->vec - 1, before = vec < LOAD_NR_VECS ? s->vec_ns[vec] : 0;

	switch_tasks(ctx, switch_state_first, &prev, &next);
	switch_edge(s, prev, next, task_ctx(next));
	/* Before the start the slot is empty. */
	if (!s->base)
		return 0;
	if (vec < LOAD_NR_VECS)
		noise_vec_paused(s, task_cpu(next), vec, s->vec_ns[vec] - before);
	return noise_switch(s, prev, next);
}

/* Every switch closes the open interval: the task that leaves gets what the slot counted since it came. */
static __always_inline int switch_by_task(struct load_slot *s, struct task_struct *prev,
				       struct task_struct *next)
{
	switch_edge(s, prev, next, task_ctx(next));
	/* Before the start the slot is empty. */
	return s->base ? task_switch(s, prev, next) : 0;
}

SEC("tp_btf/sched_switch")
int load_switch(u64 *ctx)
{
	struct task_struct *prev, *next;
	struct load_slot *s;

	switch_tasks(ctx, switch_state_first, &prev, &next);
	if (FILLED(LOAD_FILLED_TASKS))
		return switch_by_task(slot_of(task_cpu(next)), prev, next);
	/*
	 * Kernel threads, the idle task included, are measured one by one: a switch from or to one of them
	 * closes the open interval.
	 */
	if (FILLED(LOAD_FILLED_NOISE)) {
		s = slot_of(task_cpu(next));
		if (((prev->flags | next->flags) & PF_KTHREAD) || !prev->pid || !next->pid || !task_goes_on(s))
			return switch_noise(ctx, s);
		return 0;
	}
	if (!next->pid || next->flags & PF_KTHREAD)
		return switch_to_kernel(ctx);
	s = slot_of(task_cpu(next));
	if (task_goes_on(s))
		return 0;
	return switch_to_user(ctx, s);
}

/* Softirqs that interrupt an update of the base partition must not touch it; see abi/load.h. */
static __always_inline bool softirq_edge(struct load_slot **ret_slot, u64 *ret_now)
{
	if (!edge(ret_slot, ret_now))
		return false;
	if (!(*ret_slot)->moving)
		return true;
	(*ret_slot)->odd_edges++;
	return false;
}

/* The context below the open softirq, which on top of a task is not noted. */
static __always_inline u32 softirq_under(const struct load_slot *s)
{
	return base_ctx(s) == LOAD_SOFTIRQ_TASK ? LOAD_TASK : s->under;
}

/*
 * Anything but a softirq on top of a task. Where it begins in a context that is not the one below it,
 * that is corrected first.
 */
static __noinline int softirq_begin_other(struct load_slot *s, u64 now, u32 vec)
{
	u32 under = base_ctx(s);

	if (under != LOAD_HALT && under < LOAD_SOFTIRQ_IDLE) {
		/* Nothing to correct. */
	} else if (!s->base) {
		u32 ctx = current_ctx();

		base_enter_first(s, now, ctx, ctx);
	} else if (base_ctx(s) == LOAD_HALT) {
		/* Woken by an interrupt that has no tracepoint. */
		base_enter(s, now, LOAD_TAIL);
		burst_begin(s, now);
	} else {
		/* An exit was lost: goes on in the open softirq. */
		s->odd_edges++;
		base_enter(s, now, softirq_under(s));
	}
	under = base_ctx(s);
	s->under = under;
	if (under != LOAD_KSOFTIRQD)
		base_enter(s, now, is_idle(under) ? LOAD_SOFTIRQ_IDLE : LOAD_SOFTIRQ_TASK);
	s->vec = vec + 1;
	vec_begin(s, now);
	return softirq_delayed(s, now, vec);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(load_softirq_entry, u32 vec)
{
	struct load_slot *s;
	u64 now, base;

	if (!softirq_edge(&s, &now))
		return softirq_delayed(s, now, vec);
	base = s->base;
	if ((base & 0xff) != LOAD_TASK)
		return softirq_begin_other(s, now, vec);
	base_enter_from(s, base, now, LOAD_TASK, LOAD_SOFTIRQ_TASK);
	s->vec = vec + 1;
	vec_begin(s, now);
	return FILLED(LOAD_FILLED_NOISE) ? softirq_delay_open(s) : 0;
}

/* The exit of a softirq that began before the measurement, of an unknown vector, or of another. */
static __noinline int softirq_end_other(struct load_slot *s, u64 now, u32 vec)
{
	if (!s->base) {
		u32 under = current_ctx();

		base_enter_first(s, now, under,
				 under == LOAD_LOOP ? LOAD_SOFTIRQ_IDLE :
				 under == LOAD_TASK ? LOAD_SOFTIRQ_TASK : under);
	} else if (s->vec != vec + 1) {
		s->odd_edges++;
	} else {
		s->vec = 0;
		if (base_ctx(s) >= LOAD_SOFTIRQ_IDLE)
			base_enter(s, now, softirq_under(s));
	}
	return 0;
}

/* Back to idle, or nothing to go back from, as in ksoftirqd. */
static __noinline int softirq_end_under(struct load_slot *s, u64 now)
{
	if (base_ctx(s) >= LOAD_SOFTIRQ_IDLE)
		base_enter(s, now, s->under);
	return 0;
}

/* 64 bits: an index of 32 would have to be extended. */
SEC("tp_btf/softirq_exit")
int BPF_PROG(load_softirq_exit, u64 vec)
{
	struct load_slot *s;
	u64 now, base, open, ran;

	if (!softirq_edge(&s, &now))
		return 0;
	open = (u64)s->vec - 1;
	/* Or clang compares with vec + 1, and the verifier of 6.12 forgets the bound of vec. */
	asm volatile("" : "+r"(open));
	if (vec >= LOAD_NR_VECS || open != vec)
		return softirq_end_other(s, now, vec);
	ran = vec_end(s, now, vec);
	s->vec_count[vec]++;
	s->vec = 0;
	base = s->base;
	/* That context is on top of a task and of nothing else. */
	if ((base & 0xff) != LOAD_SOFTIRQ_TASK)
		softirq_end_under(s, now);
	else
		base_enter_from(s, base, now, LOAD_SOFTIRQ_TASK, LOAD_TASK);
	return FILLED(LOAD_FILLED_NOISE) ? noise_vec(s, bpf_get_smp_processor_id(), vec, ran) : 0;
}


/* x86 only, for `noise`: each of the handlers that an NMI calls until one says that it was its. */
SEC("tp_btf/nmi_handler")
int BPF_PROG(load_nmi_noise, void *handler, s64 delta_ns, int handled)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct noise_cpu *n = bpf_map_lookup_elem(&noise, &cpu);

	if (n && handled && delta_ns >= 0 && slot_of(cpu)->start_ns != LOAD_NEVER)
		cell_add(&n->nmi, delta_ns);
	return 0;
}

/* Each twice: one of the two is loaded, those of the second kind with --irq and for `noise`. */
#define HIRQ_PAIR(name, entry, exit)                                                               \
	SEC("tp_btf/" exit) int load_##name##_leave(void *ctx)                                     \
	{                                                                                          \
		return hirq_leave();                                                               \
	}                                                                                          \
	SEC("tp_btf/" exit) int load_##name##_leave_line(void *ctx)                                \
	{                                                                                          \
		return line_leave();                                                               \
	}

#define HIRQ_VECTOR(name, entry, exit, kind)                                                       \
	HIRQ_PAIR(name, entry, exit)                                                               \
	SEC("tp_btf/" entry) int load_##name##_enter(void *ctx)                                    \
	{                                                                                          \
		return hirq_enter(NULL);                                                           \
	}                                                                                          \
	SEC("tp_btf/" entry) int load_##name##_enter_line(void *ctx)                               \
	{                                                                                          \
		return line_enter(kind, 0, NULL);                                               \
	}

HIRQ_PAIR(irq, "irq_handler_entry", "irq_handler_exit")
X86_VECTORS(HIRQ_VECTOR)

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(load_irq_enter, int irq, struct irqaction *action)
{
	return hirq_enter(action);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(load_irq_enter_line, int irq, struct irqaction *action)
{
	return line_enter((u64)action->name, irq, action);
}

/* With LOAD_FILLED_WAKE. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(load_expire_wake, struct hrtimer *timer)
{
	struct load_slot *s = slot_of(cpu_number());

	if (s->wake.wake_ns)
		passive_expire(&s->wake, timer_due(timer));
	return 0;
}

/*
 * arm64: ipi_entry follows irq_handler_entry of a line called "IPI", in every interrupt flow since 5.10
 * (SGI, pseudo-NMI, GICv5). So it is no edge of its own: it only renames the line.
 */
SEC("tp_btf/ipi_entry")
int BPF_PROG(load_ipi_name_line, const char *reason)
{
	line_name(cpu_number(), (u64)reason, 0);
	return 0;
}

/* arm64: every IPI, with its name. */
SEC("tp_btf/ipi_raise")
int BPF_PROG(load_raise_senders, const struct cpumask *mask, const char *reason)
{
	return send_mask(NOISE_SEND_RAISE, mask, (u64)reason);
}

/* Elsewhere, since Linux 6.4. */
SEC("tp_btf/ipi_send_cpu")
int BPF_PROG(load_send_cpu_senders, u32 cpu, unsigned long callsite, void *callback)
{
	return send_add(NOISE_SEND_CPU, cpu, send_kind(cpu, callback));
}

SEC("tp_btf/ipi_send_cpumask")
int BPF_PROG(load_send_mask_senders, const struct cpumask *mask, unsigned long callsite,
	     void *callback)
{
	return send_mask(NOISE_SEND_MASK, mask,
			 callback ? LOAD_LINE_CALL_FUNCTION : LOAD_LINE_RESCHEDULE);
}

/* Since Linux 6.5. The verifier lets no program take a pointer to a function from the arguments. */
SEC("tp_btf/csd_queue_cpu")
int load_call_senders(u64 *ctx)
{
	u64 function;

	if (bpf_probe_read_kernel(&function, sizeof(function), &ctx[2]))
		return 0;
	return send_call(ctx[0], function);
}

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
	/* The online mask changes between the two: count both, or a reader could miss the change. */
	__sync_fetch_and_add(&hotplug_steps, 1);
	return 0;
}

/*
 * A NO_HZ core may have no event for seconds. If a CPU has had none when it is read, the task that
 * this walk found there has been running all the time; if it found no task, the CPU is idle.
 */
SEC("iter/task")
int load_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct load_cpu_note *note;
	u32 cpu;

	if (!task || !task->on_cpu)
		return 0;
	cpu = task_cpu(task);
	note = bpf_map_lookup_elem(&notes, &cpu);
	if (note)
		note->seed_ctx = task_ctx(task) + 1;
	if (want_tasks)
		task_seed(task, cpu);
	if (want_noise)
		noise_seed(task, cpu);
	return 0;
}
