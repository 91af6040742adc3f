/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Computes how much a run queue's clock lags behind CLOCK_MONOTONIC. The kernel updates the run
 * queue's clock at the start of a switch. If a wake-up requested the switch, the kernel skips this
 * update, and run_delay lacks the time since the wake-up. The offset of CLOCK_MONOTONIC from the
 * run queue's clock is smallest just after an update. The lag of the run queue's clock is its
 * current offset minus its smallest offset.
 */
#ifndef SUBTICK_BPF_RUNQ_CLOCK_H
#define SUBTICK_BPF_RUNQ_CLOCK_H

/* The unit test compiles this file for user space and defines the types itself. */
#ifdef __bpf__
#include "kernel.bpf.h"
#endif
#include "abi/runq.h"

/* maximum lag of a run queue's clock in ns; a larger lag means that a clock was set */
#define CLOCK_JUMP_NS	  (4ULL << 30)
/* Time after which a measured offset is discarded, because the run queue's clock drifts. */
#define CLOCK_FORGOT_NS	  (1ULL << 35)
#define CLOCK_EPOCH_NS	  (1ULL << 30)
#define CLOCK_EPOCH_LOOKS 16
#define CLOCK_LEARN_NS	  (1ULL << 32)

/*
 * Computes the drift of a run queue's clock from its smallest offsets in two epochs. A drift above
 * 0.4 % means that a clock was set.
 */
static __always_inline void clock_learn(struct runq_clock *c)
{
	u64 past = c->low_at - c->anchor_at, size;
	s64 step = c->low_off - c->anchor_off, drift;
	bool back = step < 0;

	if (c->anchor_at && past < CLOCK_LEARN_NS)
		return;
	size = back ? -step : step;
	if (c->anchor_at && past <= 16 * CLOCK_LEARN_NS && size <= past >> 8) {
		drift = (size << 32) / past;
		if (back)
			drift = -drift;
		if (c->learned)
			drift = c->drift + ((drift - c->drift) >> 2);
		c->drift = drift;
		c->learned = 1;
	}
	c->anchor_off = c->low_off;
	c->anchor_at = c->low_at;
}

/*
 * Ends an epoch, the interval in which clock_late() searches the smallest clock offset. The
 * smallest offset of the epoch becomes the reference, even if the old reference is smaller, because
 * the computed drift is inexact.
 */
static __noinline int clock_epoch(struct runq_clock *c, u64 mono)
{
	if (!c)
		return 0;
	clock_learn(c);
	c->off = c->low_off;
	c->at = c->low_at;
	c->low_late = CLOCK_JUMP_NS;
	c->looks = 0;
	c->epoch_at = mono;
	return 0;
}

/*
 * Returns the lag of a run queue's clock. @clock is the run queue's clock at CLOCK_MONOTONIC @mono.
 */
static __always_inline u64 clock_late(struct runq_clock *c, u64 mono, u64 clock)
{
	u64 past = mono - c->at;
	s64 off = mono - clock;
	/* Unsigned arithmetic, because signed overflow is undefined. */
	s64 late = (u64)off - c->off - ((s64)(past * (u64)c->drift) >> 32);

	if (__builtin_expect((u64)late > CLOCK_JUMP_NS || past > CLOCK_FORGOT_NS, 0)) {
		c->off = off;
		c->at = mono;
		late = 0;
	}
	if (__builtin_expect(late <= c->low_late, 0)) {
		c->low_late = late;
		c->low_off = off;
		c->low_at = mono;
	}
	c->looks++;
	if (__builtin_expect(mono - c->epoch_at > CLOCK_EPOCH_NS, 0) &&
	    c->looks >= CLOCK_EPOCH_LOOKS)
		clock_epoch(c, mono);
	return late;
}

#endif
