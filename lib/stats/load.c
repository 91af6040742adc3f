/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the load of a window from two cumulative samples. */
#include "stats/load.h"

#include <math.h>
#include <string.h>

#include "base/array.h"

/*
 * Tolerance for rounding errors. If a load is outside of 0…1 by more than CLAMP_TOLERANCE, the flag
 * LOAD_CLAMPED is set.
 */
#define CLAMP_TOLERANCE 0.001

static double clamp(double ratio, uint32_t *flags)
{
	if (ratio < -CLAMP_TOLERANCE || ratio > 1.0 + CLAMP_TOLERANCE)
		*flags |= LOAD_CLAMPED;
	return ratio < 0.0 ? 0.0 : ratio > 1.0 ? 1.0 : ratio;
}

/* Unsigned subtraction is correct even after a wrap-around. */
static double delta(uint64_t cur, uint64_t prev)
{
	return (double)(int64_t)(cur - prev);
}

static uint64_t within(double ns, uint64_t window_ns)
{
	return ns < 0.0 ? 0 : ns > (double)window_ns ? window_ns : (uint64_t)(ns + 0.5);
}

static void window_parts(const struct load_sample *prev, const struct load_sample *cur,
			 uint32_t parts, struct load_cpu_window *w)
{
	double wall_ns = delta(cur->wall_ns, prev->wall_ns), sum_ns = 0.0;

	for (int i = 0; i < LOAD_NR_PARTS; i++) {
		double ns = delta(cur->part_ns[i], prev->part_ns[i]);

		if (!(parts >> i & 1))
			continue;
		sum_ns += ns;
		/* an interrupt during a context change may shorten the time of one context */
		clamp(ns / (double)w->window_ns, &w->flags);
		w->part_ns[i] = within(ns, w->window_ns);
	}
	w->closure_error_ratio = wall_ns > 0.0 ? fabs(sum_ns - wall_ns) / wall_ns : 1.0;
}

void load_subtract(const struct load_sample *prev, const struct load_sample *cur, double rate,
		   uint32_t parts, struct load_cpu_window *w)
{
	double busy, total, enabled_ns = delta(cur->enabled_ns, prev->enabled_ns),
			    running_ns = delta(cur->running_ns, prev->running_ns);

	*w = (struct load_cpu_window){.flags = cur->flags};
	/* a window has a result only if both of its samples are valid */
	if (prev->flags & LOAD_OFFLINE)
		w->flags |= LOAD_HOTPLUGGED;
	w->flags |= prev->flags & (LOAD_READ_FAILED | LOAD_TORN);
	/* the CPU went offline and came back between the two samples */
	if (!(cur->flags & LOAD_OFFLINE) && cur->hotplug_steps != prev->hotplug_steps)
		w->flags |= LOAD_HOTPLUGGED;
	w->window_ns = cur->stamp_ns - prev->stamp_ns;
	total = delta(cur->total, prev->total);
	if (!(w->flags & LOAD_NO_FIGURE) && (total <= 0.0 || !w->window_ns))
		w->flags |= LOAD_NO_TIME;
	/* If a multiplexed counter did not run in the window, the load is unknown, not 0. */
	if (enabled_ns > 0.0 && running_ns <= 0.0)
		w->flags |= LOAD_READ_FAILED;
	if (w->flags & LOAD_NO_FIGURE)
		return;
	busy = delta(cur->busy, prev->busy) * rate;
	if (enabled_ns != running_ns) {
		w->flags |= LOAD_MULTIPLEXED;
		busy *= enabled_ns / running_ns;
	}
	w->busy_ratio = clamp(busy / total, &w->flags);
	/* busy_ns is exact for a source that counts ns, because window_ns / total is then 1 */
	w->busy_ns = within(busy * ((double)w->window_ns / total), w->window_ns);
	if (parts)
		window_parts(prev, cur, parts, w);
}

static double busy_of_parts(const struct load_cpu_window *w)
{
	return (double)w->window_ns - (double)w->part_ns[LOAD_PART_IDLE] -
	       (double)w->part_ns[LOAD_PART_POLL_IDLE] - (double)w->part_ns[LOAD_PART_UNKNOWN];
}

void load_core_subtract(const struct load_smt_sample *prev, const struct load_smt_sample *cur,
			const struct load_cpu_window *a, const struct load_cpu_window *b,
			struct load_core *core)
{
	double window = delta(cur->now_ns, prev->now_ns);
	double busy[2], both[2], all;

	core->flags = (a->flags | b->flags) & LOAD_NO_FIGURE;
	if (prev->torn || cur->torn)
		core->flags |= LOAD_TORN;
	if (!core->flags && window <= 0.0)
		core->flags |= LOAD_NO_TIME;
	memset(core->busy_ns, 0, sizeof(core->busy_ns));
	core->window_ns = 0;
	core->closure_error_ratio = 0.0;
	if (core->flags)
		return;
	for (int i = 0; i < 2; i++) {
		busy[i] = delta(cur->busy_ns[i], prev->busy_ns[i]);
		both[i] = delta(cur->both_ns[i], prev->both_ns[i]);
	}
	core->window_ns = (uint64_t)window;
	core->closure_error_ratio = (fabs(both[0] - both[1]) + fabs(busy[0] - busy_of_parts(a)) +
				     fabs(busy[1] - busy_of_parts(b))) / window;
	/* the time in which both siblings are busy cannot exceed the busy time of one sibling */
	all = fmax(fmin((both[0] + both[1]) / 2.0, fmin(busy[0], busy[1])), busy[0] + busy[1] - window);
	core->busy_ns[LOAD_SIBLINGS_ALL] = within(all, core->window_ns);
	core->busy_ns[LOAD_SIBLINGS_ONE] =
		within(busy[0] + busy[1] - 2.0 * (double)core->busy_ns[LOAD_SIBLINGS_ALL],
		       core->window_ns - core->busy_ns[LOAD_SIBLINGS_ALL]);
	core->busy_ns[LOAD_SIBLINGS_NONE] = core->window_ns - core->busy_ns[LOAD_SIBLINGS_ALL] -
					    core->busy_ns[LOAD_SIBLINGS_ONE];
}

static bool may_be_stolen(enum load_part part)
{
	return part != LOAD_PART_STEAL && part != LOAD_PART_UNKNOWN;
}

void load_move_steal(struct load_cpu_window *w, uint64_t steal_ns)
{
	uint64_t known = 0, moved = 0;
	double share;

	for (int i = 0; i < LOAD_NR_PARTS; i++)
		known += may_be_stolen(i) ? w->part_ns[i] : 0;
	/* steal time in /proc/stat has steps of 1/USER_HZ, so it may exceed a short window */
	if (steal_ns > known)
		steal_ns = known;
	if (!steal_ns)
		return;
	share = (double)steal_ns / (double)known;
	for (int i = 0; i < LOAD_NR_PARTS; i++) {
		uint64_t part =
			may_be_stolen(i) ? (uint64_t)((double)w->part_ns[i] * share) : 0;

		w->part_ns[i] -= part;
		moved += part;
	}
	/*
	 * Add @moved instead of @steal_ns, because rounding makes @moved a few ns smaller. The sum
	 * of all parts stays exact.
	 */
	w->part_ns[LOAD_PART_STEAL] += moved;
	w->busy_ns -= (uint64_t)((double)w->busy_ns * share);
	w->busy_ratio *= 1.0 - share;
}

unsigned int load_sum(const struct load_cpu_window *cpu, const struct cpuset *cpus,
		      struct load_cpu_window *ret_window)
{
	struct load_cpu_window sum = {0};
	unsigned int nr = 0;

	cpuset_for_each(i, cpus) {
		const struct load_cpu_window *w = &cpu[i];

		if (w->flags & LOAD_NO_FIGURE)
			continue;
		for (int part = 0; part < LOAD_NR_PARTS; part++)
			sum.part_ns[part] += w->part_ns[part];
		sum.window_ns += w->window_ns;
		sum.busy_ns += w->busy_ns;
		sum.busy_ratio += w->busy_ratio * (double)w->window_ns;
		sum.closure_error_ratio += w->closure_error_ratio * (double)w->window_ns;
		sum.flags |= w->flags;
		nr++;
	}
	if (sum.window_ns) {
		sum.busy_ratio /= (double)sum.window_ns;
		sum.closure_error_ratio /= (double)sum.window_ns;
	}
	*ret_window = sum;
	return nr;
}

double load_part_ratio(const struct load_cpu_window *w, enum load_part part)
{
	return w->window_ns ? (double)w->part_ns[part] / (double)w->window_ns : 0.0;
}

const char *load_part_name(enum load_part part)
{
	static const char *const names[LOAD_NR_PARTS] = {
		[LOAD_PART_TASK] = "task",
		[LOAD_PART_HARDIRQ] = "hardirq",
		[LOAD_PART_SOFTIRQ_ON_IDLE] = "softirq_on_idle",
		[LOAD_PART_SOFTIRQ_ON_TASK] = "softirq_on_task",
		[LOAD_PART_KSOFTIRQD] = "ksoftirqd",
		[LOAD_PART_IDLE_LOOP] = "idle_loop",
		[LOAD_PART_STEAL] = "steal",
		[LOAD_PART_POLL_IDLE] = "poll_idle",
		[LOAD_PART_IDLE] = "idle",
		[LOAD_PART_UNKNOWN] = "unknown",
	};

	return names[part];
}

/* Names of softirq vectors, in the order of the kernel's enum since Linux 2.6.31. */
const char *load_vec_name(unsigned int vec)
{
	static const char *const names[LOAD_NR_VECS] = {
		"HI",	    "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
		"IRQ_POLL", "TASKLET", "SCHED",	 "HRTIMER", "RCU",
	};

	return names[vec];
}

void load_flags_format(uint32_t flags, char *buf, unsigned int size)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = {
		{LOAD_OFFLINE, "offline"},	     {LOAD_HOTPLUGGED, "hotplugged"},
		{LOAD_READ_FAILED, "read-failed"},   {LOAD_TORN, "torn"},
		{LOAD_NO_TIME, "no-time"},	     {LOAD_MULTIPLEXED, "multiplexed"},
		{LOAD_NOT_CONSTANT, "not-constant"}, {LOAD_CLAMPED, "clamped"},
		{LOAD_RESTARTED, "restarted"},
	};
	size_t len = 0;

	if (size)
		buf[0] = '\0';
	array_for_each(known, names, ARRAY_SIZE(names))
		if (flags & known->flag && len + !!len + strlen(known->name) < size)
			len = stpcpy(stpcpy(buf + len, len ? "," : ""), known->name) - buf;
}
