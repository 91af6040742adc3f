/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How late a run queue's clock is. The kernel sets it when it begins to switch, except where a
 * wake-up has asked for the switch: then it spares itself the update, and what has passed since,
 * be it an interrupt's way to a core or a long stretch without preemption, is in none of its books.
 * CLOCK_MONOTONIC is never late, and the least distance between the two is that to a fresh clock.
 */
#ifndef SUBTICK_BPF_RUNQ_CLOCK_H
#define SUBTICK_BPF_RUNQ_CLOCK_H

/* Elsewhere, which is the unit test, types are the includer's. */
#ifdef __bpf__
#include "kernel.bpf.h"
#endif
#include "abi/runq.h"

#define CLOCK_JUMP_NS	  (4ULL << 30) /* no clock is that late: somebody has set one of the two */
#define CLOCK_FORGOT_NS	  (1ULL << 35) /* the drift not learned has made the distance worthless */
#define CLOCK_EPOCH_NS	  (1ULL << 30)
#define CLOCK_EPOCH_LOOKS 16
#define CLOCK_LEARN_NS	  (1ULL << 32)

/*
 * How fast the two drift apart, from the least distances of two epochs some seconds from each
 * other. A distance that moved by more than 0.4 % of the time was set, and teaches nothing.
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
 * Ends an epoch: its least distance is the one to go by from here on, also where it is greater
 * than the one before, because the drift was not quite what we took it for.
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

/* How late @clock, that of the run queue, is at @mono. */
static __always_inline u64 clock_late(struct runq_clock *c, u64 mono, u64 clock)
{
	u64 past = mono - c->at;
	s64 off = mono - clock;
	/* Unsigned, because what is too large for it is thrown away below and must not trap before. */
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
