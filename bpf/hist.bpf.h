/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel half of abi/hist.h for BPF: the bucket of a value without a clz instruction. */
#ifndef SUBTICK_BPF_HIST_H
#define SUBTICK_BPF_HIST_H

/* Not kernel.bpf.h: the unit test compiles this for the machine as well. */
#include <linux/types.h>

#include "abi/hist.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* Position of the highest set bit; @v is not 0. */
static __always_inline __u32 hist_msb(__u64 v)
{
	__u32 bit = 0;

	if (v >> 32) {
		v >>= 32;
		bit = 32;
	}
	if (v >> 16) {
		v >>= 16;
		bit += 16;
	}
	if (v >> 8) {
		v >>= 8;
		bit += 8;
	}
	if (v >> 4) {
		v >>= 4;
		bit += 4;
	}
	if (v >> 2) {
		v >>= 2;
		bit += 2;
	}
	return bit + (v >> 1);
}

static __always_inline __u32 hist_bucket(__u64 v)
{
	__u32 msb;

	if (v < HIST_SUB)
		return v;
	if (v > HIST_VALUE_MAX)
		v = HIST_VALUE_MAX;
	msb = hist_msb(v);
	return (msb - HIST_SUB_BITS + 1) * HIST_SUB + ((v >> (msb - HIST_SUB_BITS)) & (HIST_SUB - 1));
}

#endif
