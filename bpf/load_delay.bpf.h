/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Delays of softirqs and of workqueue functions, for `subtick noise` (abi/noise.h). */
#ifndef SUBTICK_BPF_LOAD_DELAY_H
#define SUBTICK_BPF_LOAD_DELAY_H

#include "load_noise.bpf.h"

MAP(queued, ARRAY, 0, 1, u32, u64);

static __always_inline struct noise_cpu *noise_here(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&noise, &cpu);
}

/*
 * Stores the time at which a softirq vector was first raised since the vector last ran. Interrupts
 * are off at this tracepoint.
 */
SEC("tp_btf/softirq_raise")
int BPF_PROG(load_softirq_raise_noise, u64 vec)
{
	struct noise_cpu *n = noise_here();

	if (n && vec < LOAD_NR_VECS && !n->raised_ns[vec])
		n->raised_ns[vec] = bpf_ktime_get_ns();
	return 0;
}

/*
 * Counts the delay of a softirq from softirq_raise to softirq_entry. @now is the time since the
 * start of the measurement.
 */
static __noinline int softirq_delay(const struct load_slot *s, u64 now, u32 vec)
{
	struct noise_cpu *n = noise_here();
	s64 ns;

	if (!n || vec >= LOAD_NR_VECS)
		return 0;
	ns = now + s->start_ns - n->raised_ns[vec];
	if (n->raised_ns[vec])
		cell_add(&n->delays[vec], ns > 0 ? ns : 0);
	else
		n->raise_unseen++;
	n->raised_ns[vec] = 0;
	return 0;
}

/*
 * Counts the delay of a softirq at softirq_entry. Reads the time and the softirq vector from the
 * slot, because two arguments would cost the caller two registers.
 */
static __noinline int softirq_delay_open(const struct load_slot *s)
{
	return softirq_delay(s, s->base >> 8, s->vec - 1);
}

static __always_inline int softirq_delayed(const struct load_slot *s, u64 now, u32 vec)
{
	return FILLED(LOAD_FILLED_NOISE) ? softirq_delay(s, now, vec) : 0;
}

/*
 * Returns the table element of the work item whose address is *@arg, or NULL. @ret_tag gets the tag
 * of the work item. The address is read through a pointer, because the verifier forbids arithmetic
 * on kernel addresses.
 */
static __always_inline u64 *queued_word(const u64 *arg, u64 *ret_tag)
{
	u64 hash;
	u32 at;

	if (bpf_probe_read_kernel(&hash, sizeof(hash), arg))
		return NULL;
	hash *= 0x9e3779b97f4a7c15ULL;
	at = hash >> (64 - NOISE_QUEUED_BITS);
	*ret_tag = hash << NOISE_QUEUED_BITS >> NOISE_QUEUED_NS_BITS << NOISE_QUEUED_NS_BITS;
	return bpf_map_lookup_elem(&queued, &at);
}

/* The delay of delayed work begins when its timer expires and the kernel queues the work item. */
SEC("tp_btf/workqueue_queue_work")
int load_work_queue_noise(u64 *ctx)
{
	u64 tag, *word = queued_word(&ctx[2], &tag);
	struct noise_cpu *n;

	if (!word)
		return 0;
	/* an element with another tag belongs to a pending or a cancelled work item */
	if (*word && (*word ^ tag) >> NOISE_QUEUED_NS_BITS) {
		n = noise_here();
		if (n)
			n->queued_lost++;
	}
	*word = tag | (bpf_ktime_get_ns() & ((1ULL << NOISE_QUEUED_NS_BITS) - 1));
	return 0;
}

/*
 * Counts the delay of a work item, from queueing to execution, in the counters @w of its function.
 * The barrier items of flush_work() are not counted, because they are queued without an event.
 */
static __always_inline void work_delay(struct noise_work *w, const u64 *arg, u64 now)
{
	u64 tag, *word = queued_word(arg, &tag), was, ns;

	if (!word)
		return;
	was = *word;
	if (!was || (was ^ tag) >> NOISE_QUEUED_NS_BITS)
		return;
	*word = 0;
	ns = (now - was) & ((1ULL << NOISE_QUEUED_NS_BITS) - 1);
	/* The delay may be negative by a few ns when the kernel adjusts the clock. */
	cell_add(&w->delay, ns >> (NOISE_QUEUED_NS_BITS - 1) ? 0 : ns);
}

/*
 * Clock that measures work items: task time of the core for a worker thread, time without hardirqs
 * for a softirq.
 */
static __always_inline u64 work_clock(const struct load_slot *s)
{
	u64 edge, ns = 0;

	for (int i = 0; i < 2; i++) {
		edge = s->hirq;
		barrier();
		ns = bpf_ktime_get_ns() - s->start_ns;
		ns = s->vec ? ns - s->hirq_in_ns : ns - (s->base >> 8) + task_ns(s);
		barrier();
		if (s->hirq == edge)
			break;
	}
	return ns;
}

SEC("tp_btf/workqueue_execute_start")
int load_work_start_noise(u64 *ctx)
{
	u64 now = bpf_ktime_get_ns(), function;
	struct load_slot *s = &core_at(cpu_number())->load;
	struct work_struct *work = (void *)ctx[0];
	struct noise_cpu *n = noise_here();
	struct noise_work *w;

	if (!n || before_start(now - s->start_ns))
		return 0;
	/*
	 * A BPF helper reads the function pointer as a number, because the verifier of Linux 6.18
	 * restricts the use of pointers.
	 */
	function = (u64)BPF_CORE_READ(work, func);
	w = work_of(n, function);
	if (!w) {
		n->works_lost++;
		return 0;
	}
	w->executions++;
	sum_add(&w->run, noise_window_seq, 0);
	work_delay(w, &ctx[0], now);
	n->executing[!!s->vec].since_ns = work_clock(s);
	n->executing[!!s->vec].function = function;
	return 0;
}

SEC("tp_btf/workqueue_execute_end")
int load_work_end_noise(void *ctx)
{
	struct load_slot *s = &core_at(cpu_number())->load;
	struct noise_cpu *n = noise_here();

	if (n)
		work_stretch_end(n, &n->executing[!!s->vec], work_clock(s));
	return 0;
}

#endif
