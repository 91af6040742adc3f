/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load of a window from two cumulative samples. */
#include "stats/load.h"

#include <math.h>
#include <string.h>

/* Reads of a moving counter round; beyond this, clamping would hide an error. */
#define CLAMP_TOLERANCE 0.001

static double clamp(double ratio, uint32_t *flags)
{
	if (ratio < -CLAMP_TOLERANCE || ratio > 1.0 + CLAMP_TOLERANCE)
		*flags |= LOAD_CLAMPED;
	return ratio < 0.0 ? 0.0 : ratio > 1.0 ? 1.0 : ratio;
}

/* Unsigned subtraction is right across a wrap of the counter as well. */
static double delta(uint64_t cur, uint64_t prev)
{
	return (double)(int64_t)(cur - prev);
}

static void window_parts(const struct load_sample *prev, const struct load_sample *cur,
			 uint32_t parts, struct load_window *w)
{
	double wall_ns = delta(cur->wall_ns, prev->wall_ns), sum_ns = 0.0;

	for (int i = 0; i < LOAD_NR_PARTS; i++) {
		if (!(parts >> i & 1))
			continue;
		sum_ns += delta(cur->part_ns[i], prev->part_ns[i]);
		w->part_ratio[i] = delta(cur->part_ns[i], prev->part_ns[i]) / w->window_ns;
		/* An interrupt at the very edge of two contexts may leave one short by its length. */
		w->part_ratio[i] = clamp(w->part_ratio[i], &w->flags);
	}
	w->closure_error_ratio = wall_ns > 0.0 ? fabs(sum_ns - wall_ns) / wall_ns : 1.0;
}

void load_window(const struct load_sample *prev, const struct load_sample *cur, double rate,
		 uint32_t parts, struct load_window *ret_window)
{
	struct load_window w = {0};
	double total;

	w.flags = cur->flags;
	/* A window needs both ends: what voids the earlier sample voids it as well. */
	if (prev->flags & LOAD_OFFLINE)
		w.flags |= LOAD_HOTPLUGGED;
	w.flags |= prev->flags & (LOAD_READ_FAILED | LOAD_TORN);
	w.window_ns = cur->stamp_ns - prev->stamp_ns;
	total = delta(cur->total, prev->total);
	if (!(w.flags & LOAD_NO_FIGURE) && (total <= 0.0 || !w.window_ns))
		w.flags |= LOAD_NO_TIME;
	if (w.flags & LOAD_NO_FIGURE)
		goto out;

	if (cur->enabled_ns - prev->enabled_ns != cur->running_ns - prev->running_ns)
		w.flags |= LOAD_MULTIPLEXED;
	w.busy_ratio = clamp(delta(cur->busy, prev->busy) * rate / total, &w.flags);
	if (parts)
		window_parts(prev, cur, parts, &w);
out:
	*ret_window = w;
}

void load_window_steal(struct load_window *w, uint64_t steal_ns)
{
	double steal, unhalted = 0.0, keep;

	if ((w->flags & LOAD_NO_FIGURE) || !w->window_ns)
		return;
	steal = (double)steal_ns / w->window_ns;
	for (int i = 0; i <= LOAD_PART_IDLE_LOOP; i++)
		unhalted += w->part_ratio[i];
	/* The column moves in whole ticks, and may be ahead of what this window holds. */
	if (steal > unhalted)
		steal = unhalted;
	if (steal <= 0.0)
		return;
	keep = (unhalted - steal) / unhalted;
	for (int i = 0; i <= LOAD_PART_IDLE_LOOP; i++)
		w->part_ratio[i] *= keep;
	w->part_ratio[LOAD_PART_STEAL] += steal;
	w->busy_ratio *= keep;
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
	};
	unsigned int len = 0;

	if (!size)
		return;
	buf[0] = '\0';
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t want = strlen(names[i].name) + (len ? 1 : 0);

		if (!(flags & names[i].flag) || len + want >= size)
			continue;
		if (len)
			buf[len++] = ',';
		strcpy(buf + len, names[i].name);
		len = strlen(buf);
	}
}
