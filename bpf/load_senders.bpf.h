/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counts IPIs and cross-CPU function calls by sending and receiving core, for noise --senders
 * (abi/noise.h).
 */
#ifndef SUBTICK_BPF_LOAD_SENDERS_H
#define SUBTICK_BPF_LOAD_SENDERS_H

#include "load_noise.bpf.h"

MAPPED_ARRAY(sends, struct noise_sends);

/* Number of 64-bit words of the kernel's cpumask. */
const volatile __u32 send_words = 1;

/*
 * Finds the struct noise_send of @program for the receiving core @target. @key is the name of an
 * IPI or the address of a function. Returns NULL if the table of @program is full. Each program has
 * its own table, because one sender program can interrupt another sender program on the same core.
 */
static __always_inline struct noise_send *send_entry(u32 program, u32 target, u64 key)
{
	u32 sender = bpf_get_smp_processor_id();
	struct noise_sends *s = bpf_map_lookup_elem(&sends, &sender);
	struct noise_sum *sum;

	if (!s || program >= NOISE_SEND_PROGRAMS || slot_at(sender)->start_ns == LOAD_NEVER)
		return NULL;
	sum = sum_probe((char *)s->of[program].sends, sizeof(struct noise_send), NOISE_NR_SENDS - 1, NOISE_PROBES,
			key, target);
	if (!sum)
		s->of[program].lost++;
	return (struct noise_send *)sum;
}

/* Returns true if the table entry is unused or belongs to another key or receiving core. */
static __always_inline bool send_is_new(const struct noise_send *send, u32 target, u64 key)
{
	return send->sum.key != key || send->sum.id != target;
}

/*
 * Counts one vote for the process that sends the IPI (majority vote). An IPI that an interrupt
 * sends does not count for the current task.
 */
static __always_inline void send_vote(struct noise_send *send)
{
	const struct load_slot *s = &core_at(cpu_number())->load;
	u32 tgid = s->hirq & 0xff || s->vec ? NOISE_BY_INTERRUPT : bpf_get_current_pid_tgid() >> 32;
	u64 window_seq = noise_window_seq, odd = window_seq >> NOISE_WINDOW_SHIFT & 1;

	if (send->by[odd].window_seq != window_seq) {
		send->by[odd].window_seq = window_seq;
		send->by[odd].votes = 0;
	}
	if (!send->by[odd].votes) {
		send->by[odd].tgid = tgid;
		bpf_get_current_comm(send->by[odd].comm, sizeof(send->by[odd].comm));
	}
	send->by[odd].votes += send->by[odd].tgid == tgid ? 1 : -1;
}

static __always_inline void send_count(struct noise_send *send, u32 target, u64 key)
{
	send->sum.id = target;
	send->sum.key = key;
	sum_add(&send->sum, noise_window_seq, 0);
	send_vote(send);
}

/*
 * send_add() is a global function, because the verifier checks a global function once, not for each
 * bit of a CPU mask.
 */
__noinline int send_add(u32 program, u32 target, u64 reason)
{
	struct noise_send *send = send_entry(program, target, reason);

	if (!send)
		return 0;
	if (reason >= LOAD_LINE_KINDS && send_is_new(send, target, reason))
		bpf_probe_read_kernel_str(send->name, sizeof(send->name), (const char *)reason);
	send_count(send, target, reason);
	return 0;
}

static __always_inline int send_mask(u32 program, const struct cpumask *mask, u64 reason)
{
	for (u32 word = 0; word < NOISE_SEND_WORDS && word < send_words; word++) {
		u64 bits;

		if (bpf_probe_read_kernel(&bits, sizeof(bits), (const u64 *)mask + word))
			return 0;
		for (u32 bit = 0; bit < 64 && bits; bit++, bits >>= 1)
			if (bits & 1)
				send_add(program, word * 64 + bit, reason);
	}
	return 0;
}

/*
 * Returns the kind of an IPI. A reschedule IPI has no callback. An IPI that a core sends to itself
 * is an irq_work IPI.
 */
static __always_inline u64 send_kind(u32 target, const void *callback)
{
	if (!callback)
		return LOAD_LINE_RESCHEDULE;
	return target == bpf_get_smp_processor_id() ? LOAD_LINE_IRQ_WORK : LOAD_LINE_CALL_FUNCTION;
}

/*
 * Counts a function call sent to core @target. bpf_snprintf() looks up the function's symbol once
 * per table entry.
 */
static __always_inline int send_call(u32 target, u64 function)
{
	struct noise_send *send = send_entry(NOISE_SEND_CALL, target, function);

	if (!send)
		return 0;
	if (send_is_new(send, target, function))
		BPF_SNPRINTF(send->name, sizeof(send->name), "%ps", function);
	send_count(send, target, function);
	return 0;
}

#endif
