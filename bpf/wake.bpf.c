/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Timestamps of idle entry and exit, and of the interrupts, timers and IPIs that end idling. */
#include "hist.bpf.h"
#include "wake_passive.bpf.h"
#include "wake_point.bpf.h"
#include "vectors.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Counts the previous idle period at the next idle entry, because all expired timers have run by
 * then.
 */
static __always_inline void passive_enter(struct wake_slot *s)
{
	if (s->win.due_ns)
		passive_timer(&s->win, &s->counts, nr_states, one_state);
	else if (s->win.tbi_ns)
		s->counts.other++;
	s->win.wake_ns = 0;
	s->win.due_ns = 0;
}

SEC("tp_btf/cpu_idle")
int BPF_PROG(wake_idle, u32 state, u32 event_cpu)
{
	/* The timestamp of an idle exit is taken before all other work of the program. */
	u64 now = state == PWR_EVENT_EXIT ? bpf_ktime_get_ns() : 0;
	u32 cpu = bpf_get_smp_processor_id();
	struct wake_slot *s = bpf_map_lookup_elem(&slots, &cpu);

	if (!s)
		return 0;
	if (state == PWR_EVENT_EXIT) {
		s->win.tai_ns = now;
		s->win.idle = 0;
		if (want_passive && !s->win.wake_ns)
			s->win.wake_ns = now;
		if (want_points)
			point_exit(s, cpu, now);
		return 0;
	}
	if (want_passive)
		passive_enter(s);
	s->win.begun = state;
	s->win.tai_ns = 0;
	s->win.idle = 1;
	/* The timestamp of an idle entry is taken after all other work of the program. */
	s->win.tbi_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * Calibration: two programs on the same event store timestamps. The difference is the cost of one
 * program.
 */
SEC("tp_btf/cpu_idle")
int BPF_PROG(wake_calibrate1, u32 state, u32 event_cpu)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct wake_slot *s = bpf_map_lookup_elem(&slots, &cpu);

	if (s && state == PWR_EVENT_EXIT)
		s->win.calibrate_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/cpu_idle")
int BPF_PROG(wake_calibrate2, u32 state, u32 event_cpu)
{
	u64 now = bpf_ktime_get_ns();
	u32 cpu = bpf_get_smp_processor_id();
	struct wake_slot *s = bpf_map_lookup_elem(&slots, &cpu);

	if (s && state == PWR_EVENT_EXIT)
		s->win.calibrate_cost_ns = now - s->win.calibrate_ns;
	return 0;
}

/* Handles interrupt entry. @action is NULL for x86 vectors. */
static __always_inline int irq_enter(u32 kind, u32 irq, struct irqaction *action)
{
	u64 now = bpf_ktime_get_ns();
	u32 cpu = bpf_get_smp_processor_id();
	struct wake_slot *s = bpf_map_lookup_elem(&slots, &cpu);

	if (!s || (action && same_interrupt(&s->win, action)))
		return 0;
	if (want_points) {
		if (s->win.in_irq) {
			/*
			 * On arm64, an IPI causes the event irq_handler_entry first, then the event
			 * ipi_entry.
			 */
			if (s->point.irqs == 1)
				s->point.irq_kind = kind;
			return 0;
		}
		s->win.in_irq = kind == WAKE_IRQ_DEVICE;
	}
	if (want_passive)
		passive_irq(&s->win, now, s->win.idle);
	if (want_points)
		point_irq(s, cpu, now, kind, irq);
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(wake_irq, int irq, struct irqaction *action)
{
	return irq_enter(WAKE_IRQ_DEVICE, irq, action);
}

SEC("tp_btf/irq_handler_exit")
int wake_irq_exit(void *ctx)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct wake_slot *s = bpf_map_lookup_elem(&slots, &cpu);

	if (s)
		s->win.in_irq = 0;
	return 0;
}

#define VECTOR(name, entry, exit, line)                             \
	SEC("tp_btf/" entry) int wake_##name(void *ctx)             \
	{                                                           \
		return irq_enter(WAKE_IRQ_OF(line), 0, NULL);       \
	}

/* Converts an enum load_line_kind to an enum wake_irq. */
#define WAKE_IRQ_OF(line)                                                                       \
	((line) == LOAD_LINE_LOCAL_TIMER ? WAKE_IRQ_TIMER :                                     \
	 (line) >= LOAD_LINE_RESCHEDULE && (line) <= LOAD_LINE_CALL_FUNCTION_SINGLE ? WAKE_IRQ_IPI : \
										      WAKE_IRQ_OTHER)

VECTOR(ipi, "ipi_entry", "", LOAD_LINE_RESCHEDULE)
X86_VECTORS(VECTOR)

/* wake_nmi is loaded only on x86. */
SEC("tp_btf/nmi_handler")
int wake_nmi(void *ctx)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct wake_slot *s = bpf_map_lookup_elem(&slots, &cpu);

	if (s && want_points)
		s->point.nmis++;
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(wake_expire, struct hrtimer *timer)
{
	u64 now = want_points ? bpf_ktime_get_ns() : 0;
	u32 cpu = bpf_get_smp_processor_id();
	struct wake_slot *s = bpf_map_lookup_elem(&slots, &cpu);

	if (!s)
		return 0;
	if (want_points)
		point_expire(s, cpu, timer->_softexpires - timer->base->offset, timer_due(timer), now);
	if (want_passive && s->win.wake_ns)
		passive_expire(&s->win, timer_due(timer));
	return 0;
}

/*
 * Source remote: stores the launch time, the time of the first call while the sender wakes the
 * worker. @woken is the pid of the woken task, and is read only if @how is WAKE_HOW_WAKING.
 */
static __always_inline int stamp_launch(u32 cpu, u32 how, u32 woken)
{
	u64 now = bpf_ktime_get_ns();
	struct wake_launch *l = bpf_map_lookup_elem(&launches, &cpu);

	if (!l || !l->sender || l->launch_ns || l->sender != (u32)bpf_get_current_pid_tgid() ||
	    (how == WAKE_HOW_WAKING && woken != l->worker))
		return 0;
	l->how = how;
	l->launch_ns = now;
	return 0;
}

SEC("tp_btf/ipi_send_cpu")
int BPF_PROG(wake_ipi_send, u32 cpu)
{
	return stamp_launch(cpu, WAKE_HOW_IPI, 0);
}

SEC("tp_btf/sched_wake_idle_without_ipi")
int BPF_PROG(wake_flag, int cpu)
{
	return stamp_launch(cpu, WAKE_HOW_FLAG, 0);
}

/*
 * wake_ipi_raise is used on arm64 kernels without ipi_send_cpu (5.10, 6.1). The event ipi_raise has
 * a mask of target CPUs.
 */
SEC("tp_btf/ipi_raise")
int BPF_PROG(wake_ipi_raise, const struct cpumask *mask)
{
	u64 word;

	/* NR_CPUS of arm64 is at most 4096. */
	for (u32 i = 0; i < 4096 / 64; i++) {
		if (bpf_probe_read_kernel(&word, sizeof(word), (const char *)mask + 8 * i) || !word)
			continue;
		/* the IPI of a wake-up has exactly one target CPU */
		if (word & (word - 1))
			return 0;
		return stamp_launch(64 * i + hist_msb(word), WAKE_HOW_IPI, 0);
	}
	return 0;
}

/* wake_waking is loaded on kernels without a tracepoint for sent IPIs. */
SEC("tp_btf/sched_waking")
int BPF_PROG(wake_waking, struct task_struct *task)
{
	return stamp_launch(task_cpu(task), WAKE_HOW_WAKING, task->pid);
}

SEC("tp_btf/sched_switch")
int wake_switch(u64 *ctx)
{
	u64 now = bpf_ktime_get_ns();
	struct task_struct *prev, *next;
	u32 cpu = bpf_get_smp_processor_id();
	struct wake_launch *l = bpf_map_lookup_elem(&launches, &cpu);
	struct wake_slot *s = bpf_map_lookup_elem(&slots, &cpu);

	if (!l || !s || !l->launch_ns || now < l->launch_ns || s->point.switch_ns)
		return 0;
	switch_tasks(ctx, switch_state_first, &prev, &next);
	if ((u32)next->pid == l->worker)
		s->point.switch_ns = now;
	return 0;
}
