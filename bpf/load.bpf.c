/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sums the time of each CPU by context (enum load_ctx), in memory that user space maps. */
#include "load_slot.bpf.h"
#include "load_delay.bpf.h"
#include "load_lines.bpf.h"
#include "load_senders.bpf.h"
#include "load_switch.bpf.h"
#include "vectors.bpf.h"

/*
 * Does the work of rarely used load options at idle entry, in a separate function, so that
 * load_idle() needs fewer registers without these options.
 */
static __noinline int idle_notes(struct load_slot *s, u32 cpu, u64 now)
{
	burst_end(s, cpu, now);
	if (FILLED(LOAD_FILLED_CORES))
		smt_edge(s, now, false);
	/* Readers compare the time pmu_ns of a PMU sample with the start of the current context. */
	if (FILLED(LOAD_FILLED_PMU))
		pmu_sample(s, s->base >> 8);
	return 0;
}

/*
 * Records in struct load_smt that the CPU is busy, at an idle exit or softirq entry. In the context
 * LOAD_TAIL the CPU has been awake since the last interrupt: smt_awake() restores the words from
 * before the last idle entry and ignores @now.
 */
static __noinline int smt_awake(struct load_slot *s, u64 now)
{
	struct load_smt *own = smt_of(s);

	if (base_ctx(s) != LOAD_TAIL || own->busy & 1)
		return smt_edge(s, now, true);
	own->moving = 1;
	barrier();
	own->busy = own->was_busy;
	own->both = own->was_both;
	barrier();
	own->moving = 0;
	return 0;
}

/*
 * base_first_idle() is a separate function, because only the first event of a core reads the
 * constant first_idle.
 */
static __noinline int base_first_idle(struct load_slot *s)
{
	s->base = first_idle;
	return 0;
}

static __always_inline int idle_exit(struct load_slot *s)
{
	u64 now;

	if (base_ctx(s) == LOAD_TAIL) {
		/*
		 * An interrupt without a tracepoint woke the core, so this idle exit is the first
		 * recorded event of the wake-up.
		 */
		if (FILLED_FLAG(LOAD_FILLED_WAKE) && !s->wake.wake_ns)
			passive_exit(&s->wake, bpf_ktime_get_ns());
		if (FILLED_FLAG(LOAD_FILLED_CORES))
			smt_awake(s, 0);
		/*
		 * The current interval keeps its start and only changes its context, so no clock
		 * read is needed.
		 */
		MOVING(s, LOAD_LOOP, s->base += LOAD_LOOP - LOAD_TAIL);
		return 0;
	}
	/*
	 * The clock is read early, because the run time of this program before the clock read
	 * counts as idle time.
	 */
	now = bpf_ktime_get_ns();
	if (FILLED_FLAG(LOAD_FILLED_WAKE))
		passive_exit(&s->wake, now);
	now -= s->start_ns;
	if (before_start(now))
		return 0;
	MOVING(s, LOAD_LOOP, if (!s->base) base_first_idle(s); base_move(s, now, LOAD_LOOP));
	burst_begin(s, now);
	if (FILLED_FLAG(LOAD_FILLED_CORES))
		smt_awake(s, now);
	return 0;
}

/*
 * idle_timer() is a separate function, because most idle periods do not end with a timer of this
 * CPU.
 */
static __noinline int idle_timer(struct core_block *core)
{
	return passive_timer(&core->load.wake, &core->wake, FILLED(LOAD_FILLED_STATES),
			     FILLED(LOAD_FILLED_ONE_STATE));
}

/*
 * @cpu is the current CPU. The kernel zero-extends the 32-bit arguments of the tracepoint cpu_idle,
 * so @state and @cpu can be u64.
 */
SEC("tp_btf/cpu_idle")
int BPF_PROG(load_idle, u64 state, u64 cpu)
{
	struct core_block *core = core_at(cpu);
	struct load_slot *s = &core->load;
	u64 now, to;

	if ((u32)state == PWR_EVENT_EXIT)
		return idle_exit(s);
	/*
	 * The clock is read late, because the run time of this program before the clock read counts
	 * as busy time.
	 */
	to = (s->poll_states >> (state & 63) & 1) * LOAD_POLL;
	asm volatile("" : "+r"(to));
	if (FILLED_FLAG(LOAD_FILLED_WAKE)) {
		if (s->wake.due_ns)
			idle_timer(core);
		else if (s->wake.tbi_ns)
			core->wake.other++;
		s->wake.wake_ns = 0;
		s->wake.due_ns = 0;
		s->wake.begun = state;
	}
	now = bpf_ktime_get_ns();
	if (FILLED_FLAG(LOAD_FILLED_WAKE))
		s->wake.tbi_ns = now;
	now -= s->start_ns;
	if (before_start(now))
		return 0;
	/* base_move() needs no MOVING() here: interrupts are off until the core halts. */
	base_first(s, LOAD_LOOP);
	base_move(s, now, to);
	if (FILLED_FLAG(LOAD_FILLED_NOTES))
		idle_notes(s, bpf_get_smp_processor_id(), now);
	return 0;
}

SEC("tp_btf/sched_switch")
int load_switch(u64 *ctx)
{
	return switch_load(ctx);
}

/*
 * Returns false before the start of the measurement, or if the softirq interrupted a BPF program
 * that was updating the base context. If softirq_edge() returns false, the caller must leave the
 * base context unchanged.
 */
static __always_inline bool softirq_edge(struct load_slot **ret_slot, u64 *ret_now)
{
	if (!edge(ret_slot, ret_now))
		return false;
	if (!(*ret_slot)->moving)
		return true;
	(*ret_slot)->odd_edges++;
	return false;
}

/*
 * Returns the context that the running softirq interrupted. s->under is not set if the softirq
 * interrupted a task.
 */
static __always_inline u32 softirq_under(const struct load_slot *s)
{
	return base_ctx(s) == LOAD_SOFTIRQ_TASK ? LOAD_TASK : s->under;
}

/*
 * Handles the entry of a softirq that did not interrupt a task. If an earlier event was lost, first
 * corrects the base context.
 */
static __noinline int softirq_begin_other(struct load_slot *s, u64 now, u32 vec)
{
	u32 under = base_ctx(s);

	if (FILLED(LOAD_FILLED_CORES))
		smt_awake(s, now);
	if (under != LOAD_HALT && under < LOAD_SOFTIRQ_IDLE) {
		/* no earlier event was lost, so the base context needs no correction */
	} else if (!s->base) {
		u32 ctx = current_ctx();

		base_enter_first(s, now, ctx, ctx);
	} else if (base_ctx(s) == LOAD_HALT) {
		/* The core was woken by an interrupt that has no tracepoint. */
		base_enter(s, now, LOAD_TAIL);
		burst_begin(s, now);
	} else {
		/* The exit event of the previous softirq was lost. */
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
	/*
	 * the local copy `base` still equals s->base, because a hardirq changes s->base only in an
	 * idle context
	 */
	MOVING(s, LOAD_SOFTIRQ_TASK, base_move_from(s, base, now, LOAD_TASK, LOAD_SOFTIRQ_TASK));
	s->vec = vec + 1;
	vec_begin(s, now);
	return FILLED(LOAD_FILLED_NOISE) ? softirq_delay_open(s) : 0;
}

/*
 * Handles the exit of a softirq that began before the measurement, or whose vector is not the
 * vector of the last entry event.
 */
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
	return FILLED(LOAD_FILLED_CORES) ? smt_after(s, now) : 0;
}

/* Handles the exit of a softirq that interrupted the idle task or ran in ksoftirqd. */
static __noinline int softirq_end_under(struct load_slot *s, u64 now)
{
	if (base_ctx(s) >= LOAD_SOFTIRQ_IDLE)
		base_enter(s, now, s->under);
	return FILLED(LOAD_FILLED_CORES) ? smt_after(s, now) : 0;
}

static __always_inline int softirq_exit(u64 vec, bool with_noise)
{
	struct load_slot *s;
	u64 now, base, open, ran;

	if (!softirq_edge(&s, &now))
		return 0;
	open = (u64)s->vec - 1;
	/*
	 * Without the barrier clang compares vec + 1, and the verifier of Linux 6.12 loses the
	 * bound of vec.
	 */
	asm volatile("" : "+r"(open));
	if (vec >= LOAD_NR_VECS || open != vec)
		return softirq_end_other(s, now, vec);
	ran = vec_end(s, now, vec);
	s->vec_count[vec]++;
	s->vec = 0;
	base = s->base;
	if ((base & 0xff) != LOAD_SOFTIRQ_TASK)
		softirq_end_under(s, now);
	else
		MOVING(s, LOAD_TASK, base_move_from(s, base, now, LOAD_SOFTIRQ_TASK, LOAD_TASK));
	return with_noise ? noise_vec(s, bpf_get_smp_processor_id(), vec, ran) : 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(load_softirq_exit, u64 vec)
{
	return softirq_exit(vec, false);
}

/*
 * Program on softirq exit that is loaded only for noise. One common program for load and noise
 * would cost load 14 more instructions.
 */
SEC("tp_btf/softirq_exit")
int BPF_PROG(load_softirq_exit_noise, u64 vec)
{
	return softirq_exit(vec, true);
}

/*
 * load_nmi_noise is loaded only on x86 and only for noise. The tracepoint nmi_handler has one event
 * for each handler that an NMI calls.
 */
SEC("tp_btf/nmi_handler")
int BPF_PROG(load_nmi_noise, void *handler, s64 delta_ns, int handled)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct noise_cpu *n = bpf_map_lookup_elem(&noise, &cpu);

	if (n && handled && delta_ns >= 0 && slot_at(cpu)->start_ns != LOAD_NEVER)
		cell_add(&n->nmi, delta_ns);
	return 0;
}

/*
 * Each program on hardirqs has a second variant for --irq and noise, which also records the name of
 * the interrupt.
 */
#define HIRQ_PAIR(name, entry, exit)                                                               \
	SEC("tp_btf/" exit) int load_##name##_leave(void *ctx)                                     \
	{                                                                                          \
		u64 now = bpf_ktime_get_ns();                                                      \
                                                                                                   \
		return hirq_leave(slot_at(cpu_number()), now);                                     \
	}                                                                                          \
	SEC("tp_btf/" exit) int load_##name##_leave_line(void *ctx)                                \
	{                                                                                          \
		return line_leave();                                                               \
	}

#define HIRQ_VECTOR(name, entry, exit, kind)                                                       \
	HIRQ_PAIR(name, entry, exit)                                                               \
	SEC("tp_btf/" entry) int load_##name##_enter(void *ctx)                                    \
	{                                                                                          \
		u64 now = bpf_ktime_get_ns();                                                      \
                                                                                                   \
		return hirq_enter(slot_at(cpu_number()), now, NULL, true);                         \
	}                                                                                          \
	SEC("tp_btf/" entry) int load_##name##_enter_line(void *ctx)                               \
	{                                                                                          \
		return line_enter(kind, 0, NULL, true);                                            \
	}

HIRQ_PAIR(irq, "irq_handler_entry", "irq_handler_exit")
X86_VECTORS(HIRQ_VECTOR)

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(load_irq_enter, int irq, struct irqaction *action)
{
	u64 now = bpf_ktime_get_ns();

	return hirq_enter(slot_at(cpu_number()), now, action, false);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(load_irq_enter_line, int irq, struct irqaction *action)
{
	return line_enter((u64)action->name, irq, action, false);
}

/* Program for passive wake-ups, loaded only with LOAD_FILLED_WAKE. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(load_expire_wake, struct hrtimer *timer)
{
	struct load_slot *s = slot_at(cpu_number());

	if (s->wake.wake_ns)
		passive_expire(&s->wake, timer_due(timer));
	return 0;
}

/*
 * arm64: load_ipi_name_line only stores the name of the interrupt line, because the event
 * irq_handler_entry precedes the event ipi_entry since Linux 5.10.
 */
SEC("tp_btf/ipi_entry")
int BPF_PROG(load_ipi_name_line, const char *reason)
{
	line_name(core_at(cpu_number()), (u64)reason, 0);
	return 0;
}

/* arm64: the tracepoint ipi_raise reports every IPI with its name. */
SEC("tp_btf/ipi_raise")
int BPF_PROG(load_raise_senders, const struct cpumask *mask, const char *reason)
{
	return send_mask(NOISE_SEND_RAISE, mask, (u64)reason);
}

/*
 * Program for all architectures except arm64. The tracepoint ipi_send_cpu exists since Linux 6.4.
 */
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

/*
 * The tracepoint csd_queue_cpu exists since Linux 6.5. A BPF helper reads the function pointer,
 * because the verifier refuses a direct load from the tracepoint's arguments.
 */
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
	/*
	 * The online mask changes between cpuhp_enter and cpuhp_exit. hotplug_steps is incremented
	 * at cpuhp_enter and cpuhp_exit, so a reader detects each change of the online mask.
	 */
	__sync_fetch_and_add(&hotplug_steps, 1);
	return 0;
}

/*
 * Records the running task of each core at the start, because a NO_HZ core may have no event for
 * several seconds.
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
	if (FILLED(LOAD_FILLED_TASKS))
		task_seed(task, cpu);
	if (FILLED(LOAD_FILLED_NOISE))
		noise_seed(task, cpu);
	return 0;
}
