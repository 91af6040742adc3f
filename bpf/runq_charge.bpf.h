/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counts one wait: histogram, maximum, causes, blame, and the event that reports a long wait. */
#ifndef SUBTICK_BPF_RUNQ_CHARGE_H
#define SUBTICK_BPF_RUNQ_CHARGE_H

#include "runq_slots.bpf.h"
#include "hist.bpf.h"
#include "runq_clock.bpf.h"
#include "runq_walk.bpf.h"

struct dispatch {
	/* if the wait began on another core, wait_ns is larger than the difference now - from */
	u64 from, now, wait_ns;
	/* time of the switch by the run queue's clock, and the lag of this clock */
	u64 clock, late_ns;
	u64 mono;		/* CLOCK_MONOTONIC at the switch */
	struct task_struct *prev, *next;
	u32 slot_ref, pid;
	bool sampled;
	bool leaves_asleep; /* prev blocks; false for the idle task */
};

/*
 * Visits up to RUNQ_NR_STEP time segments of a wait, older than the newest @first segments. Returns
 * 1 if the caller must visit further segments, else 0. wait_walk() is a global function, because
 * the verifier checks a global function only once.
 */
__noinline int wait_walk(u32 cpu, u32 first)
{
	struct runq_cpu *pc = cpu_at(cpu);

	if (!first)
		walk_begin(&pc->walk);
	if (walk_part(pc, first, cpu) && first < RUNQ_NR_WALK - RUNQ_NR_STEP)
		return 1;
	walk_end(&pc->walk, cpu);
	return 0;
}

static __noinline int event_wait(struct runq_cpu *pc, u64 wait_ns, struct task_struct *prev,
				 struct task_struct *next)
{
	struct runq_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	u32 cpu = bpf_get_smp_processor_id();

	if (!event) {
		pc->events_lost++;
		return 0;
	}
	event->kind = RUNQ_EVENT_WAIT;
	event->cpu = cpu;
	event->key = task_key(MODE_ANY, next, cpu);
	event->wait_ns = wait_ns;
	event->culprit = pc->walk.culprit_ns ? key_of(pc->walk.culprit) : 0;
	event->culprit_ns = pc->walk.culprit_ns;
	event->time_ns = bpf_ktime_get_ns();
	event->pid = next->pid;
	event->tgid = next->tgid;
	event->prev_pid = prev->pid;
	event->pad = 0;
	bpf_probe_read_kernel(event->comm, sizeof(event->comm), next->comm);
	bpf_probe_read_kernel(event->prev_comm, sizeof(event->prev_comm), prev->comm);
	bpf_ringbuf_submit(event, 0);
	return 0;
}

/*
 * Records that the throttling of a group on this core has ended. throttle_ends() looks up the
 * group's slot again, because passing the slot would cost the caller a register.
 */
static __noinline int throttle_ends(u32 slot_ref, u64 total, u64 now)
{
	u64 cpu = bpf_get_smp_processor_id();
	void *books = slot_get(slot_ref);
	struct runq_cell *cell;

	asm volatile("" : "+r"(cpu));
	if (!books || cpu >= layout.cpus)
		return 0;
	cell = slot_cell(books, cpu);
	/*
	 * If the group was throttled on this core before its first recorded dispatch, the length of
	 * that throttling is unknown.
	 */
	if (cell->throttled_total || total > 1) {
		slot_cold(books, cpu)->throttled_ns = cell->throttled_total
							      ? total - cell->throttled_total
							      : RUNQ_THROTTLED_UNKNOWN;
		slot_cold(books, cpu)->throttled_end = now;
	}
	cell->throttled_total = total;
	cell->throttled_quick = 0;
	return 0;
}

/*
 * Returns the throttled time of a wait that began at @from: the sum over the last throttlings of
 * the task's cgroup.
 */
static __always_inline u64 throttle_sum(const struct runq_throttle *throttle, u64 from)
{
	u64 sum = 0;

	for (u32 i = 0; i < RUNQ_NR_LAST - 1; i++) {
		u64 at = throttle->nr - i, end = throttle->last[at % RUNQ_NR_LAST].end;
		u64 was = throttle->last[(at - 1) % RUNQ_NR_LAST].total, ns;

		if (end <= from)
			break;
		ns = throttle->last[at % RUNQ_NR_LAST].total - was;
		/*
		 * `was` is 0 if the total before the throttling is unknown. `ns` may be negative if
		 * `was` belongs to the cgroup from which the task was moved.
		 */
		if (!was || (s64)ns < 0)
			return RUNQ_THROTTLED_UNKNOWN;
		sum += ns < end - from ? ns : end - from;
	}
	return sum;
}

/*
 * Records the end of throttling, like throttle_ends(), if a group is a task or a part of a cgroup.
 * All tasks of a cgroup share the record of its last throttlings on this core. If another task of
 * the cgroup was dispatched before @task, the record already contains the end of the throttling.
 */
static __noinline int task_throttle_ends(struct task_struct *task, u32 slot_ref, u64 total,
					 const struct runq_cpu *pc)
{
	u64 cpu = bpf_get_smp_processor_id();
	struct runq_throttle_key key = {task_cgroup(task, cgroup_v2), cpu};
	struct runq_throttle *throttle = bpf_map_lookup_elem(&throttles, &key), first = {};
	void *books = slot_get(slot_ref);
	struct runq_cell *cell;
	struct runq_cold *cold;

	asm volatile("" : "+r"(cpu));
	if (!books || cpu >= layout.cpus)
		return 0;
	cell = slot_cell(books, cpu);
	cold = slot_cold(books, cpu);
	/* A cgroup that was never throttled on this core needs no entry. */
	if (!throttle && total > 1) {
		first.last[0].total = cell->throttled_total;
		bpf_map_update_elem(&throttles, &key, &first, BPF_NOEXIST);
		throttle = bpf_map_lookup_elem(&throttles, &key);
	}
	cell->throttled_total = total;
	if (!throttle) {
		if (total > 1)
			*cold = (struct runq_cold){RUNQ_THROTTLED_UNKNOWN, pc->to};
		return 0;
	}
	if (throttle->last[throttle->nr % RUNQ_NR_LAST].total != total) {
		u64 nr = ++throttle->nr;

		throttle->last[nr % RUNQ_NR_LAST].total = total;
		throttle->last[nr % RUNQ_NR_LAST].end = pc->to;
	}
	cold->throttled_ns = throttle_sum(throttle, pc->from);
	cold->throttled_end = throttle->last[throttle->nr % RUNQ_NR_LAST].end;
	return 0;
}

/*
 * Returns true if throttling overlaps the wait. The kernel increases the total throttled time when
 * throttling ends. If the total throttled time changed since the group's last dispatch on this
 * core, throttling ended during the wait. If the group is a task or a part of a cgroup, throttling
 * may also have ended while the task slept. Returns false if groups are cores or task names,
 * because the tasks of such a group are in several cgroups with unrelated totals.
 */
static __always_inline bool wait_throttled(struct mode mode, const struct runq_cpu *pc, void *slot,
					   struct runq_cell *cell, const struct dispatch *d,
					   u64 cpu)
{
	u64 total, end;

	if (mode.per == RUNQ_PER_COMM || mode.per == RUNQ_PER_CPU ||
	    !throttled_total(d->next, &total))
		return false;
	total++;
	if (unlikely(cell->throttled_total != total)) {
		if (mode.per == RUNQ_PER_CGROUP)
			throttle_ends(d->slot_ref, total, pc->to);
		else
			task_throttle_ends(d->next, d->slot_ref, total, pc);
	}
	end = slot_cold(slot, cpu)->throttled_end;
	if (end + RUNQ_QUICK_NS < pc->to)
		cell->throttled_quick = total;
	return end > pc->from;
}

static __always_inline void wait_set_throttled(const struct runq_cold *cold, struct runq_walk *w)
{
	w->throttled_unknown = cold->throttled_ns == RUNQ_THROTTLED_UNKNOWN;
	w->throttled_to = cold->throttled_end;
	w->throttled_from = w->throttled_to - cold->throttled_ns;
	if (w->throttled_from < w->from || w->throttled_from > w->throttled_to)
		w->throttled_from = w->from;
}

static __always_inline void stripe_add(u64 *counter, u64 more)
{
	if (layout.kind & RUNQ_SHARED)
		__sync_fetch_and_add(counter, more);
	else
		*counter += more;
}

static __always_inline void hist_count(struct runq_hist *hist, u64 wait_ns, u32 kind)
{
	u32 bucket = hist_bucket(wait_ns) % HIST_NR, le;

	if (!kind)
		hist->count[bucket]++;
	else
		__sync_fetch_and_add(&hist->count[bucket], 1);
	le = le_in[bucket];
	if (!le || wait_ns > le_ns[(le - 1) % RUNQ_NR_LE])
		return;
	stripe_add(&hist->below[(le - 1) % RUNQ_NR_LE], 1);
}

/*
 * Counts a wait in the histogram whose buckets are the boundaries of --le. If the histogram bucket
 * of the wait contains a boundary, the wait is compared with that boundary.
 */
static __always_inline void steps_count(struct runq_steps *steps, u64 wait_ns)
{
	u32 bucket = hist_bucket(wait_ns) % HIST_NR, le = le_in[bucket];
	u64 step = le_before[bucket];

	if (le && wait_ns > le_ns[(le - 1) % RUNQ_NR_LE])
		step++;
	/* The verifiers of Linux 5.10 and 6.1 lose the known bounds of 32-bit registers. */
	asm volatile("" : "+r"(step));
	if (step <= RUNQ_NR_LE)
		stripe_add(&steps->count[step], 1);
}

static __always_inline void wait_count(void *slot, u64 cpu, u64 wait_ns)
{
	u32 kind = layout.kind;

	/*
	 * `>=` tests the flag RUNQ_STEPS, because the verifier removes the unused branch of a
	 * comparison, but not of a bitwise AND.
	 */
	if (kind >= RUNQ_STEPS)
		steps_count(slot_steps(slot, cpu), wait_ns);
	else
		hist_count(slot_hist(slot, cpu), wait_ns, kind);
}

/*
 * Returns true if the whole wait is within the last time segment, so that only one task ran during
 * the wait. one_segment() returns true for most waits.
 */
static __always_inline bool one_segment(const struct runq_cpu *pc, const struct dispatch *d,
					u32 *ret_cause)
{
	u32 head = pc->head / RUNQ_SEG_STEP;
	const struct runq_seg *last = &pc->segs[head % RUNQ_NR_SEGS];

	if (last->start_ns > pc->from || !last->start_ns)
		return false;
	*ret_cause = cause_of(RUNQ_RAN_WHO(last->ran), d->slot_ref);
	if (last->start_ns == pc->from &&
	    RUNQ_RAN_PID(pc->segs[(head - 1) % RUNQ_NR_SEGS].ran) == d->pid)
		*ret_cause = RUNQ_PREEMPTED;
	return true;
}

/* Blames the whole wait on the group of the only task that ran during the wait. */
static __noinline int blame_one(struct runq_cpu *pc, struct task_struct *next, u64 wait_ns)
{
	u32 cpu = bpf_get_smp_processor_id();
	u32 who = RUNQ_RAN_WHO(pc->segs[pc->head / RUNQ_SEG_STEP % RUNQ_NR_SEGS].ran);

	return blame_who(task_key(MODE_ANY, next, cpu), who, wait_ns, cpu);
}

/*
 * Splits a wait into the time segments that overlap the wait. @booked is false for a long wait
 * outside of the sample: the wait is not counted, but reported as an event.
 */
static __noinline int walk_charge(struct runq_cpu *pc, struct task_struct *next, u32 slot_ref,
				  bool throttled, bool booked)
{
	u64 cpu = bpf_get_smp_processor_id();
	struct runq_walk *w = &pc->walk;
	void *books = slot_get(slot_ref);
	struct runq_cell *cell;
	struct runq_cold *cold;

	asm volatile("" : "+r"(cpu));
	if (!books || cpu >= layout.cpus)
		return 0;
	cell = slot_cell(books, cpu);
	cold = slot_cold(books, cpu);
	w->from = pc->from;
	w->to = pc->to;
	w->slot = slot_ref;
	w->pid = (u32)next->pid;
	w->throttled_from = w->throttled_to = w->throttled_unknown = 0;
	if (throttled)
		wait_set_throttled(cold, w);
	w->key = booked ? task_key(MODE_ANY, next, cpu) : 0;
	for (u32 first = 0; first < RUNQ_NR_WALK && wait_walk(cpu, first); first += RUNQ_NR_STEP)
		;
	for (int i = 0; booked && i < RUNQ_NR_CAUSES; i++) {
		if (i < RUNQ_NR_HOT)
			cell->cause_ns[i] += w->cause_ns[i];
		else if (w->cause_ns[i])
			stripe_add(slot_rare(books, cpu, i - RUNQ_NR_HOT), w->cause_ns[i]);
	}
	return 0;
}

static __always_inline void wait_charge(struct mode mode, struct runq_cpu *pc,
					const struct dispatch *d, void *slot, u64 cpu)
{
	bool is_long = mode.threshold && d->wait_ns >= threshold_ns, throttled;
	struct runq_cell *cell;
	u32 cause;

	if (d->sampled)
		wait_count(slot, cpu, d->wait_ns);
	else if (!is_long)
		return;
	cell = slot_cell(slot, cpu);
	if (d->sampled && d->wait_ns > cell->max_ns)
		cell->max_ns = d->wait_ns;
	if (!mode.causes) {
		cell->cause_ns[RUNQ_WHOLE] += d->wait_ns;
		return;
	}
	throttled = wait_throttled(mode, pc, slot, cell, d, cpu);
	if (!is_long && !throttled && d->wait_ns == pc->to - pc->from &&
	    one_segment(pc, d, &cause)) {
		if (cause < RUNQ_NR_HOT)
			cell->cause_ns[cause] += d->wait_ns;
		if (mode.blame && d->wait_ns)
			blame_one(pc, d->next, d->wait_ns);
		return;
	}
	pc->walk.moved_ns = d->wait_ns - (pc->to - pc->from);
	walk_charge(pc, d->next, d->slot_ref, throttled, d->sampled);
	if (is_long)
		event_wait(pc, d->wait_ns, d->prev, d->next);
}

#endif
