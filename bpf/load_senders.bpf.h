/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which core sends IPIs to which, and what for: see abi/noise.h. Only with `noise --senders`. */
#ifndef SUBTICK_BPF_LOAD_SENDERS_H
#define SUBTICK_BPF_LOAD_SENDERS_H

#include "load_noise.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct noise_sends);
} sends SEC(".maps");

/* Words of a cpumask that can have a core. */
const volatile __u32 send_words = 1;

/*
 * Not static: the verifier walks it once, not for each bit of a mask. @program: an IPI that is sent
 * by an interrupt inside another program must not touch that one's table.
 */
__noinline int send_add(u32 program, u32 target, u64 reason)
{
	u32 sender = bpf_get_smp_processor_id();
	struct noise_sends *s = bpf_map_lookup_elem(&sends, &sender);
	struct noise_send *send;

	if (!s || program >= NOISE_SEND_PROGRAMS || start_ns == LOAD_NEVER)
		return 0;
	send = (struct noise_send *)sum_find((char *)s->of[program].sends, sizeof(*send),
					     NOISE_NR_SENDS - 1, reason, target);
	if (!send) {
		s->of[program].lost++;
		return 0;
	}
	if (send->sum.key != reason || send->sum.id != target) {
		if (reason >= LOAD_LINE_KINDS)
			bpf_probe_read_kernel_str(send->name, sizeof(send->name),
						  (const char *)reason);
		send->sum.id = target;
		send->sum.key = reason;
	}
	sum_add(&send->sum, noise_turn, 0);
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

/* The generic events have no name: only a reschedule has nothing to call. */
static __always_inline u64 send_kind(const void *callback)
{
	return callback ? LOAD_LINE_CALL_FUNCTION : LOAD_LINE_RESCHEDULE;
}

#endif
