/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures, for each set of cores that tasks may use, the time in which a core of the set is idle.
 */
#ifndef SUBTICK_BPF_RUNQ_AVOIDABLE_H
#define SUBTICK_BPF_RUNQ_AVOIDABLE_H

#include "task.bpf.h"
#include "abi/runq_avoidable.h"

/* Set numbers of tasks whose CPU mask is not in the table of sets. */
#define SET_PINNED  (RUNQ_AVOIDABLE_SETS)     /* task that is allowed on one core only */
/* task that is allowed on one core only, and whose affinity user space cannot change */
#define SET_FIXED   (RUNQ_AVOIDABLE_SETS + 1)
#define SET_UNKNOWN (RUNQ_AVOIDABLE_SETS + 2)

#define PF_NO_SETAFFINITY 0x04000000

/*
 * Values of runq_avoidable_task.throttled after a migration. THROTTLED_ELSEWHERE means that CPU
 * quota did not throttle the waiting task before the migration. THROTTLED_UNKNOWN means that CPU
 * quota throttled the waiting task before the migration.
 */
#define THROTTLED_ELSEWHERE ((u64)-2)
#define THROTTLED_UNKNOWN   ((u64)-1)

/* Constants that user space sets before it loads the programs. */
const volatile __u32 nr_possible = 1; /* number of possible CPUs */
const volatile __u32 mask_words = 1;

struct runq_avoidable_cpu cpus[RUNQ_AVOIDABLE_CPUS];
struct runq_avoidable_set sets[RUNQ_AVOIDABLE_SETS];

static __always_inline u64 accumulator_at(u64 word, u64 now)
{
	s64 open = (s64)(word << (64 - RUNQ_AVOIDABLE_SHIFT)) >> (64 - RUNQ_AVOIDABLE_SHIFT);

	return ((word - open) >> RUNQ_AVOIDABLE_SHIFT) + open * now;
}

static __always_inline struct runq_avoidable_cpu *avoid_core(u64 cpu)
{
	return &cpus[cpu & (RUNQ_AVOIDABLE_CPUS - 1)];
}

static __always_inline u64 avoid_set_idle(u32 set, u64 now)
{
	return set < RUNQ_AVOIDABLE_SETS ? accumulator_at(sets[set].idle, now) : 0;
}

static __always_inline u64 avoid_core_idle(u32 cpu, u64 now)
{
	return accumulator_at(avoid_core(cpu)->idle, now);
}

/*
 * Adds an idle core to each set of cores that the bit mask @in selects. sets_enter() is a global
 * function, because the verifier checks a global function only once, not at each call.
 */
__noinline int sets_enter(u64 in, u64 cpu, u64 now)
{
	for (u32 i = 0; i < RUNQ_AVOIDABLE_SETS; i++) {
		if (!(in >> i & 1))
			continue;
		if (!__sync_fetch_and_add(&sets[i].nr, 1))
			__sync_fetch_and_add(&sets[i].idle, RUNQ_AVOIDABLE_OPEN(now));
		sets[i].cpu = cpu;
	}
	return 0;
}

__noinline int sets_leave(u64 in, u64 now)
{
	for (u32 i = 0; i < RUNQ_AVOIDABLE_SETS; i++)
		if (in >> i & 1 && __sync_fetch_and_add(&sets[i].nr, -1) == 1)
			__sync_fetch_and_add(&sets[i].idle, RUNQ_AVOIDABLE_CLOSE(now));
	return 0;
}

/*
 * Records that the core goes idle. Other cores change the flags of @cpu only in set_join(), once
 * per set, so RUNQ_AVOIDABLE_SETS + 1 attempts are sufficient. If @first is true, core_enter()
 * ignores a core with the flag RUNQ_AVOIDABLE_SEEN.
 */
__noinline int core_enter(u64 cpu, u64 now, bool first)
{
	struct runq_avoidable_cpu *core = avoid_core(cpu);

	for (u32 i = 0; i <= RUNQ_AVOIDABLE_SETS; i++) {
		u64 old = core->flags, member = old >> RUNQ_AVOIDABLE_MEMBER & RUNQ_AVOIDABLE_ALL_SETS;
		u64 flags = old | member | RUNQ_AVOIDABLE_IDLE | RUNQ_AVOIDABLE_SEEN;

		if (first && old & RUNQ_AVOIDABLE_SEEN)
			break;
		if (__sync_val_compare_and_swap(&core->flags, old, flags) != old)
			continue;
		if (!(old & RUNQ_AVOIDABLE_IDLE))
			__sync_fetch_and_add(&core->idle, RUNQ_AVOIDABLE_OPEN(now));
		sets_enter(member & ~old, cpu, now);
		break;
	}
	return 0;
}

/*
 * Records that the core leaves its idle task. RUNQ_AVOIDABLE_SEEN is set first, so that no other
 * core sets RUNQ_AVOIDABLE_IDLE afterwards.
 */
__noinline int core_leave(u64 cpu, u64 now)
{
	struct runq_avoidable_cpu *core = avoid_core(cpu);
	u64 old;

	if (!(core->flags & RUNQ_AVOIDABLE_SEEN))
		__sync_fetch_and_or(&core->flags, RUNQ_AVOIDABLE_SEEN);
	old = __sync_fetch_and_and(&core->flags, ~(RUNQ_AVOIDABLE_IDLE | RUNQ_AVOIDABLE_ALL_SETS));
	if (!(old & RUNQ_AVOIDABLE_IDLE))
		return 0;
	__sync_fetch_and_add(&core->idle, RUNQ_AVOIDABLE_CLOSE(now));
	core->left_ns = now;
	return sets_leave(old & RUNQ_AVOIDABLE_ALL_SETS, now);
}

/*
 * Adds a core to a set of cores. Returns 0 if eight attempts to write the flags of the core failed.
 */
__noinline int set_join(u64 cpu, u64 set, u64 now)
{
	struct runq_avoidable_cpu *core = avoid_core(cpu);
	u64 in = 1ULL << (set & 15), member = in << RUNQ_AVOIDABLE_MEMBER;

	for (u32 i = 0; i < 8; i++) {
		u64 old = core->flags;
		u64 flags = old | member | (old & RUNQ_AVOIDABLE_IDLE ? in : 0);

		if (__sync_val_compare_and_swap(&core->flags, old, flags) != old)
			continue;
		sets_enter(flags & ~old & in, cpu, now);
		return 1;
	}
	return 0;
}

/* Adds the cores in one word of a CPU mask to a set of cores. Bit 0 of @word is core @first. */
__noinline int set_join_word(u64 set, u64 word, u64 first, u64 now)
{
	int joined = 1;

	for (u32 i = 0; i < 64; i++)
		if (word >> i & 1)
			joined &= set_join(first + i, set, now);
	return joined;
}

struct allowed {
	u64 words[RUNQ_AVOIDABLE_WORDS];
};

/*
 * Reads the CPU mask of a task into @ret_mask. Returns the mask, or a hash of a mask with several
 * words; never 0.
 */
static __always_inline u64 mask_read(struct task_struct *task, struct allowed *ret_mask)
{
	struct task_struct___allowed *limits = (void *)task;
	u64 key = 0;

	if (mask_words == 1) {
		ret_mask->words[0] = limits->cpus_mask.bits[0];
		return ret_mask->words[0] ?: 1;
	}
	bpf_probe_read_kernel(ret_mask, mask_words * sizeof(u64), &limits->cpus_mask);
	for (u32 i = 0; i < RUNQ_AVOIDABLE_WORDS && i < mask_words; i++) {
		key = (key ^ ret_mask->words[i]) * 0x9e3779b97f4a7c15ULL;
		key ^= key >> 29;
	}
	return key ?: 1;
}

/*
 * Returns the key of a task's CPU mask. mask_key() is a separate function, because Linux 6.1 limits
 * the stack of a chain of calls to 512 bytes.
 */
static __noinline u64 mask_key(struct task_struct *task)
{
	struct allowed mask;

	return mask_read(task, &mask);
}

/* Allocates an unused set of cores for the CPU mask of a task. */
static __noinline int set_new(struct task_struct *task, u64 now)
{
	struct allowed mask = {};
	u64 key = mask_read(task, &mask);
	u64 joined = 1;
	u32 set;

	for (set = 1; set < RUNQ_AVOIDABLE_SETS; set++)
		if (!sets[set].key && !__sync_val_compare_and_swap(&sets[set].key, 0, key))
			break;
	if (set >= RUNQ_AVOIDABLE_SETS)
		return 0;
	for (u32 i = 0; i < RUNQ_AVOIDABLE_WORDS && i < mask_words; i++)
		joined &= set_join_word(set, mask.words[i], i * 64, now);
	sets[set].ready = joined;
	return 0;
}

/* Returns the number of the set of cores that @task may use, or a value SET_*. */
static __always_inline u32 task_set(struct task_struct *task, u64 now)
{
	struct task_struct___allowed *limits = (void *)task;
	int nr = limits->nr_cpus_allowed;
	bool full = true;
	u64 key;

	/* while migration of a task is disabled, cpus_ptr points to another mask than cpus_mask */
	if (bpf_core_field_exists(limits->cpus_ptr) &&
	    (void *)limits->cpus_ptr != (void *)&limits->cpus_mask)
		return SET_FIXED;
	if (nr == 1)
		return task->flags & PF_NO_SETAFFINITY ? SET_FIXED : SET_PINNED;
	if (nr >= (int)nr_possible)
		return 0;
	key = mask_key(task);
	for (u32 i = 1; i < RUNQ_AVOIDABLE_SETS; i++) {
		if (sets[i].key == key)
			return sets[i].ready ? i : SET_UNKNOWN;
		if (!sets[i].key)
			full = false;
	}
	if (!full)
		set_new(task, now);
	return SET_UNKNOWN;
}

static __always_inline u64 avoid_throttled(struct task_struct *task)
{
	u64 total;

	if (!throttled_total(task, &total))
		return 1;
	return 1 + total;
}

static __always_inline void avoid_begins(struct runq_avoidable_task *entry, struct task_struct *task,
					u64 now)
{
	u32 cpu = task_cpu(task);
	u64 core = avoid_core_idle(cpu, now);

	entry->pid = task->pid;
	entry->cpu = cpu;
	entry->set = task_set(task, now);
	entry->all = avoid_set_idle(0, now) - core;
	entry->own = avoid_set_idle(entry->set, now) - core;
	entry->throttled = avoid_throttled(task);
	if (task_throttled(task))
		entry->throttled += throttled_so_far(task);
	entry->since_ns = now;
}

/* Adjusts the entry of a waiting task that migrates from its core to @to. */
static __always_inline void avoid_moves(struct runq_avoidable_task *entry, struct task_struct *task,
				       u32 to, u64 now)
{
	u64 shift = avoid_core_idle(task_cpu(task), now) - avoid_core_idle(to, now);
	u64 base = entry->throttled == THROTTLED_ELSEWHERE ? 1 : entry->throttled;

	entry->all += shift;
	entry->own += shift;
	/* a BPF program cannot read the group's total throttled time on the destination core @to */
	entry->throttled = base == avoid_throttled(task) ? THROTTLED_ELSEWHERE : THROTTLED_UNKNOWN;
}

/*
 * Returns the time that an accumulator gained during a wait, from its value @from to its value @to.
 * The result is limited to the length of the wait, because concurrent updates may add some ns.
 */
static __always_inline u64 avoid_grown(u64 from, u64 to, u64 wait_ns)
{
	s64 ns = (s64)((to - from) << RUNQ_AVOIDABLE_SHIFT) >> RUNQ_AVOIDABLE_SHIFT;

	return ns <= 0 ? 0 : (u64)ns < wait_ns ? (u64)ns : wait_ns;
}

static __always_inline u64 avoid_less(u64 ns, u64 by)
{
	return ns > by ? ns - by : 0;
}

/*
 * Returns 1 + the number of the core of @set that went idle last, or 0 if that core was not idle
 * during the wait.
 */
static __always_inline u32 avoid_idle_core(const struct runq_avoidable_task *entry, u32 set, u32 cpu)
{
	u64 last = set < RUNQ_AVOIDABLE_SETS ? sets[set].cpu : cpu;
	struct runq_avoidable_cpu *core = avoid_core(last);

	/* if the only idle core was the core on which the task waited, the wait is not avoidable */
	if (last == cpu && cpu == entry->cpu)
		return 0;
	return core->flags & RUNQ_AVOIDABLE_IDLE || core->left_ns > entry->since_ns ? last + 1 : 0;
}

/* Computes the avoidable part of a wait that ends on @cpu. */
static __always_inline void avoid_ends(const struct runq_avoidable_task *entry,
				      struct task_struct *task, u32 cpu, u64 now,
				      struct runq_avoidable_waits *ret_waits)
{
	u64 wait_ns = avoid_less(now, entry->since_ns), core = avoid_core_idle(cpu, now),
	    throttled_ns = 0;
	u64 all_ns = avoid_grown(entry->all, avoid_set_idle(0, now) - core, wait_ns), own_ns, total;
	u32 set = task_set(task, now);
	bool exact = set == entry->set && set != SET_UNKNOWN;

	own_ns = set >= RUNQ_AVOIDABLE_SETS
			 ? 0
			 : avoid_grown(entry->own, avoid_set_idle(set, now) - core, wait_ns);
	if (own_ns > all_ns)
		own_ns = all_ns;
	total = avoid_throttled(task);
	if (entry->throttled < THROTTLED_ELSEWHERE) {
		throttled_ns = avoid_less(total, entry->throttled);
		if (throttled_ns > wait_ns)
			throttled_ns = wait_ns;
		/*
		 * After a migration the throttled part of the wait is unknown, unless CPU quota
		 * never throttled the group on this core (total == 1).
		 */
	} else if (entry->throttled == THROTTLED_UNKNOWN || total != 1) {
		exact = false;
	}
	ret_waits->least_ns = exact ? avoid_less(own_ns, throttled_ns) : 0;
	ret_waits->most_ns = exact ? own_ns : all_ns;
	if (ret_waits->most_ns > wait_ns - throttled_ns)
		ret_waits->most_ns = wait_ns - throttled_ns;
	ret_waits->excluded_ns =
		exact && set && set != SET_FIXED ? avoid_less(all_ns - own_ns, throttled_ns) : 0;
	ret_waits->cpu = avoid_idle_core(entry, set, cpu);
	ret_waits->excluded_cpu = avoid_idle_core(entry, 0, cpu);
}

#endif
