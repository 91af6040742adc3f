/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Splits the time of a wait by the tasks that ran on the core during the wait, to find the causes,
 * the blame and the main culprit.
 */
#ifndef SUBTICK_BPF_RUNQ_WALK_H
#define SUBTICK_BPF_RUNQ_WALK_H

/* A unit test includes this file without __bpf__ and defines blame_add() and blame_who() itself. */
#ifdef __bpf__
#include "runq_blame.bpf.h"
#endif
#include "abi/runq.h"

static __always_inline u64 overlap(u64 from, u64 to, u64 other_from, u64 other_to)
{
	if (from < other_from)
		from = other_from;
	if (to > other_to)
		to = other_to;
	return from < to ? to - from : 0;
}

static __always_inline u32 cause_of(u32 ran, u32 victim)
{
	if (ran == victim)
		return ran ? RUNQ_SAME : RUNQ_OTHER;
	if (ran == RUNQ_WHO_IDLE)
		return RUNQ_IDLE;
	return ran == RUNQ_WHO_KTHREAD ? RUNQ_KTHREAD : RUNQ_OTHER;
}

/*
 * Counts the part of the wait @pc->walk that is within time segment @at. Returns false if the wait
 * began in segment @at, or if the start of segment @at is unknown.
 */
static __always_inline bool walk_step(struct runq_cpu *pc, u32 at, u32 cpu)
{
	struct runq_seg *seg = &pc->segs[at % RUNQ_NR_SEGS];
	struct runq_walk *w = &pc->walk;
	u64 start = seg->start_ns, from, to = w->left, ns;
	u32 who = RUNQ_RAN_WHO(seg->ran);

	if (!start)
		return false;
	from = start > w->from ? start : w->from;
	if (from < to) {
		ns = to - from - overlap(from, to, w->throttled_from, w->throttled_to);
		w->cause_ns[cause_of(who, w->slot) % RUNQ_NR_CAUSES] += ns;
		w->left = from;
		if (ns > w->culprit_ns) {
			w->culprit_ns = ns;
			w->culprit = who;
		}
		if (want_blame)
			blame_who(w->key, who, ns, cpu);
	}
	if (start > w->from)
		return true;
	if (start == w->from &&
	    RUNQ_RAN_PID(pc->segs[(at - 1) % RUNQ_NR_SEGS].ran) == w->pid) {
		/* The wait began with a preemption, so the whole wait counts as RUNQ_PREEMPTED. */
		ns = w->cause_ns[RUNQ_IDLE] + w->cause_ns[RUNQ_SAME] + w->cause_ns[RUNQ_OTHER] +
		     w->cause_ns[RUNQ_KTHREAD];
		w->cause_ns[RUNQ_IDLE] = w->cause_ns[RUNQ_SAME] = 0;
		w->cause_ns[RUNQ_OTHER] = w->cause_ns[RUNQ_KTHREAD] = 0;
		w->cause_ns[RUNQ_PREEMPTED] = ns;
	}
	return false;
}

/* Prepares the loop over the time segments that a wait overlaps, newest segment first. */
static __always_inline void walk_begin(struct runq_walk *w)
{
	u64 throttled = w->throttled_to - w->throttled_from;

	w->left = w->to;
	w->culprit = throttled && !w->throttled_unknown ? RUNQ_WHO_QUOTA : 0;
	w->culprit_ns = w->throttled_unknown ? 0 : throttled;
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		w->cause_ns[i] = 0;
}

/*
 * Counts the parts of a wait that are within RUNQ_NR_STEP time segments, newest segment first, and
 * skips the newest @first segments. Returns false if the wait began in one of the RUNQ_NR_STEP
 * segments.
 */
static __always_inline bool walk_part(struct runq_cpu *pc, u32 first, u32 cpu)
{
	u32 at = pc->head / RUNQ_SEG_STEP - first;

	for (int i = 0; i < RUNQ_NR_STEP; i++)
		if (!walk_step(pc, at - i, cpu))
			return false;
	return true;
}

static __always_inline void walk_end(struct runq_walk *w, u32 cpu)
{
	u64 throttled = w->throttled_to - w->throttled_from;

	if (w->left > w->from)
		w->cause_ns[RUNQ_UNKNOWN] +=
			w->left - w->from -
			overlap(w->from, w->left, w->throttled_from, w->throttled_to);
	if (w->throttled_unknown) {
		w->cause_ns[RUNQ_UNKNOWN] += throttled;
		throttled = 0;
	}
	w->cause_ns[RUNQ_THROTTLED] = throttled;
	w->cause_ns[RUNQ_MIGRATED] = w->moved_ns;
	if (!want_blame || !w->key)
		return;
	if (w->cause_ns[RUNQ_UNKNOWN])
		blame_add(w->key, RUNQ_KEY_UNKNOWN, w->cause_ns[RUNQ_UNKNOWN], cpu);
	if (throttled)
		blame_add(w->key, RUNQ_KEY_QUOTA, throttled, cpu);
	if (w->moved_ns)
		blame_add(w->key, RUNQ_KEY_MOVED, w->moved_ns, cpu);
}

#endif
