/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computes the sequence of launch distances (times from arming to launch), the validity of measured
 * wake-ups, and the conversion between clocks.
 */
#include "stats/wake.h"

#include <errno.h>
#include <math.h>

#include "base/array.h"

const char *const wake_source_names[] = {"timer", "remote", "nic", "passive", NULL};

const char *const wake_reject_names[] = {
	[WAKE_TAKEN] = "taken",
	[WAKE_REJ_BEFORE_IDLE] = "before_idle",
	[WAKE_REJ_WOKEN_EARLY] = "woken_early",
	[WAKE_REJ_OTHER_FIRST] = "other_first",
	[WAKE_REJ_NEGATIVE] = "negative",
	[WAKE_REJ_ELSEWHERE] = "elsewhere",
	[WAKE_REJ_NMI] = "nmi",
	[WAKE_REJ_LOST] = "lost",
};

const char *const wake_order_names[] = {"exit-first", "irq-first", "no-irq"};

const char *const wake_verdict_names[] = {
	[WAKE_NO_CLAIM] = "no-claim",	    [WAKE_WITHIN] = "within",
	[WAKE_EXCEEDS] = "exceeds",	    [WAKE_NO_POINTS] = "no-points",
	[WAKE_NOT_ENTERED] = "not-entered", [WAKE_CORE_ONLY] = "core-only",
};

int64_t wake_nic_offset(bool deep, int64_t dma_ns, int64_t irq_offset_ns)
{
	return deep ? irq_offset_ns : dma_ns + irq_offset_ns;
}

uint64_t wake_sweep_distance(const struct wake_sweep *sweep, uint32_t step)
{
	double distance = (double)sweep->from_ns;

	while (step--)
		distance *= sweep->step;
	return (uint64_t)(distance + 0.5);
}

uint32_t wake_sweep_steps(const struct wake_sweep *sweep)
{
	double distance = (double)sweep->from_ns;
	uint32_t steps = 0;

	/* with a step of 1 or less the launch distance would never reach its maximum */
	if (!(sweep->step > 1.0))
		return sweep->from_ns <= sweep->to_ns;
	for (; distance <= (double)sweep->to_ns; distance *= sweep->step)
		steps++;
	return steps;
}

uint64_t wake_sweep_total_ns(const struct wake_sweep *sweep)
{
	uint64_t total = 0;

	for (uint32_t step = 0; step < wake_sweep_steps(sweep); step++)
		total += wake_sweep_distance(sweep, step);
	return total;
}

/* a wake-up takes about as long as its launch distance, so the distance is the weight */
double wake_sweep_share(const struct wake_sweep *sweep, uint64_t done, unsigned int sources)
{
	uint64_t per_step = (uint64_t)sweep->points * sources, total = wake_sweep_total_ns(sweep);
	double ns = 0.0;

	if (!per_step || !total)
		return 0.0;
	for (uint32_t step = 0; step < done / per_step; step++)
		ns += (double)wake_sweep_distance(sweep, step);
	ns += (double)wake_sweep_distance(sweep, done / per_step) * (double)(done % per_step) /
	      (double)per_step;
	return ns / (double)total;
}

static uint32_t clamp_u32(uint64_t from, uint64_t to)
{
	if (!to || to < from)
		return 0;
	return to - from > UINT32_MAX ? UINT32_MAX : to - from;
}

static int32_t clamp_s32(int64_t ns)
{
	return ns > INT32_MAX ? INT32_MAX : ns < -INT32_MAX ? -INT32_MAX : ns;
}

/* Time at which the CPU was awake: the earlier of idle exit and interrupt handler entry. */
static uint64_t awake_ns(const struct wake_kpoint *k)
{
	return k->ti_ns && k->ti_ns < k->tai_ns ? k->ti_ns : k->tai_ns;
}

/* Rejects a wake-up if its launch did not cause the first interrupt. */
static enum wake_reject judge_cause(const struct wake_raw *raw)
{
	const struct wake_kpoint *k = raw->k;

	switch (raw->source) {
	case WAKE_TIMER:
		if (!k->expire_ns)
			return WAKE_REJ_ELSEWHERE;
		/* the CPU woke before its timer expired */
		if (!k->expire_irqs && k->expire_ns < k->tai_ns)
			return WAKE_REJ_NEGATIVE;
		/* expire_irqs is 0 on kernels without a tracepoint for the timer interrupt */
		return k->expire_irqs > 1 || k->due_before ? WAKE_REJ_OTHER_FIRST : WAKE_TAKEN;
	case WAKE_REMOTE:
		return k->irqs && k->irq_kind != WAKE_IRQ_IPI ? WAKE_REJ_OTHER_FIRST : WAKE_TAKEN;
	case WAKE_NIC:
		return !k->irqs ? WAKE_REJ_LOST : raw->irq_ours ? WAKE_TAKEN : WAKE_REJ_OTHER_FIRST;
	default:
		return WAKE_TAKEN;
	}
}

static enum wake_reject judge(const struct wake_raw *raw)
{
	const struct wake_kpoint *k = raw->k;

	if (!raw->launch_ns)
		return WAKE_REJ_LOST;
	/* the launch must be between idle entry and idle exit */
	if (!k->tai_ns || k->tbi_ns >= raw->launch_ns)
		return k->early_exits ? WAKE_REJ_WOKEN_EARLY : WAKE_REJ_BEFORE_IDLE;
	if (awake_ns(k) <= raw->launch_ns)
		return WAKE_REJ_NEGATIVE;
	if (k->nmis)
		return WAKE_REJ_NMI;
	return judge_cause(raw);
}

void wake_judge(const struct wake_raw *raw, struct wake_point *ret_point)
{
	const struct wake_kpoint *k = raw->k;
	struct wake_point p = {
		.launch_ns = raw->launch_ns,
		.distance_ns = raw->distance_ns,
		.irq_ns = INT32_MIN,
		.state = k->state,
		.source = raw->source,
		.how = raw->how,
		.reject = judge(raw),
	};
	int64_t latency;

	p.order = !k->ti_ns			      ? WAKE_NO_IRQ
		  : k->tai_ns && k->ti_ns < k->tai_ns ? WAKE_IRQ_FIRST
						      : WAKE_EXIT_FIRST;
	if (k->ti_ns)
		p.irq_ns = clamp_s32((int64_t)(k->ti_ns - raw->launch_ns));
	if (k->tai_ns)
		p.exit_ns = clamp_s32((int64_t)(k->tai_ns - raw->launch_ns));
	p.expire_ns = clamp_u32(raw->launch_ns, k->expire_ns);
	p.switch_ns = clamp_u32(raw->launch_ns, k->switch_ns);
	p.user_ns = clamp_u32(raw->launch_ns, raw->user_ns);
	if (p.reject == WAKE_TAKEN) {
		p.silent_ns = clamp_u32(k->tbi_ns, raw->launch_ns);
		latency =
			(int64_t)(awake_ns(k) - raw->launch_ns) - raw->overhead_ns - raw->offset_ns;
		p.latency_ns = clamp_s32(latency);
		if (latency < 0)
			p.reject = WAKE_REJ_NEGATIVE;
	}
	*ret_point = p;
}

int wake_clock_tightest(const struct wake_clock_sample *samples, size_t nr,
			struct wake_clock_fix *ret_fix)
{
	const struct wake_clock_sample *best = NULL;

	array_for_each(s, samples, nr) {
		/* the system clock was set back between the two reads */
		if (s->after_ns < s->before_ns)
			continue;
		if (!best || s->after_ns - s->before_ns < best->after_ns - best->before_ns)
			best = s;
	}
	if (!best)
		return -EINVAL;
	*ret_fix = (struct wake_clock_fix){
		.device_ns = best->device_ns,
		.system_ns = best->before_ns + (best->after_ns - best->before_ns) / 2,
		.half_window_ns = (best->after_ns - best->before_ns + 1) / 2,
	};
	return 0;
}

int64_t wake_clock_ahead(const struct wake_clock_fix *a, const struct wake_clock_fix *b)
{
	int64_t ahead = (a->device_ns - a->system_ns) - (b->device_ns - b->system_ns);
	int64_t open = a->half_window_ns + b->half_window_ns;

	if (ahead > open)
		return ahead - open;
	return ahead < -open ? ahead + open : 0;
}

/* System ns per device ns, minus 1, because a double stores a small value with more digits. */
static double slope(const struct wake_clock_map *map)
{
	int64_t device = map->b.device_ns - map->a.device_ns;
	int64_t system = map->b.system_ns - map->a.system_ns;

	return device > 0 ? (double)(system - device) / (double)device : 0.0;
}

int64_t wake_clock_to_system(const struct wake_clock_map *map, int64_t device_ns)
{
	int64_t since = device_ns - map->a.device_ns;

	return map->a.system_ns + since + llround((double)since * slope(map));
}

int64_t wake_clock_to_device(const struct wake_clock_map *map, int64_t system_ns)
{
	int64_t since = system_ns - map->a.system_ns;
	double rate = slope(map);

	return map->a.device_ns + since - llround((double)since * rate / (1.0 + rate));
}

double wake_clock_drift_ppb(const struct wake_clock_map *map)
{
	double rate = slope(map);

	/* drift of the device clock relative to the system clock, in ppb */
	return -rate / (1.0 + rate) * 1e9;
}

int64_t wake_clock_uncertainty(const struct wake_clock_map *map, int64_t device_ns)
{
	double span = (double)(map->b.device_ns - map->a.device_ns), at;

	if (span <= 0)
		return map->a.half_window_ns;
	at = (double)(device_ns - map->a.device_ns) / span;
	if (at < 0)
		at = -at;
	else if (at <= 1)
		return llround((1 - at) * (double)map->a.half_window_ns +
				at * (double)map->b.half_window_ns);
	/* outside of [a, b], the error of the slope grows with the distance */
	return llround((1 + at) * (double)(map->a.half_window_ns + map->b.half_window_ns));
}
