/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads residency counters between points and tells from them which states were entered. */
#include "measure/wake/depth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sys/cycles.h"

/* PC2 is what remains where deeper states are not allowed: caches and memory stay on. */
#define PACKAGE_SLEEPS 3

static void map_states(struct wake_depth *d, const char *root, unsigned int cpu)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	struct cpuidle idle = {0};
	int nr = cpuidle_states(root, cpu, states);

	for (int i = 0; i < CPUIDLE_MAX_STATES; i++)
		d->counter_of[i] = -1;
	if (cpuidle_read(root, &idle))
		return;
	for (int i = 0; i < nr; i++) {
		int number = cstate_number(idle.driver, states[i].name, states[i].desc);

		if (number < 0 || states[i].polls)
			continue;
		d->counter_of[i] = cstate_counter(&d->hw, number);
		d->package_can[i] = number >= PACKAGE_SLEEPS;
	}
}

static int open_counters(struct wake_depth *d, const char *root, unsigned int cpu,
			 size_t max_points)
{
	double hz = (double)cycles_hz();

	cstate_open(&d->hw, root, cpu);
	cpuidle_watch_open(&d->idle, root, cpu, false);
	map_states(d, root, cpu);
	d->opened = true;
	d->ns_per_cycle = hz > 0 ? 1e9 / hz : 0.0;
	memcpy(d->name, d->hw.name, sizeof(d->hw.name));
	d->nr_columns = d->hw.nr;
	if (d->idle.nr)
		strcpy(d->name[d->nr_columns++], "cpuidle");
	if (!d->nr_columns)
		return 0;
	d->ns = calloc(max_points, d->nr_columns * sizeof(*d->ns));
	if (!d->ns)
		return -ENOMEM;
	/* Page faults now, not between points. */
	memset(d->ns, 0xff, max_points * d->nr_columns * sizeof(*d->ns));
	d->max_points = max_points;
	return 0;
}

int wake_depth_begin(struct wake_depth *d, const char *root, unsigned int cpu, size_t max_points)
{
	int rc = d->opened ? 0 : open_counters(d, root, cpu, max_points);

	if (!rc && (cstate_read(&d->hw, d->last) || cpuidle_watch_read(&d->idle, d->idle_last)))
		d->broken = true;
	return rc;
}

/* UINT32_MAX stays free for what is not known. */
static uint32_t clamp_ns(double ns)
{
	return ns < UINT32_MAX - 1 ? (uint32_t)ns : UINT32_MAX - 1;
}

static enum wake_entered entered(bool yes)
{
	return yes ? WAKE_ENTERED_YES : WAKE_ENTERED_NO;
}

static enum wake_entered package_slept(const struct wake_depth *d, const uint64_t *cycles)
{
	enum wake_entered found = WAKE_ENTERED_UNKNOWN;

	for (int i = 0; i < d->hw.nr; i++)
		if (d->hw.package[i] && d->hw.number[i] >= PACKAGE_SLEEPS &&
		    found != WAKE_ENTERED_YES)
			found = entered(cycles[i]);
	return found;
}

void wake_depth_point(struct wake_depth *d, size_t index, struct wake_point *point)
{
	uint64_t now[CSTATE_COUNTERS], cycles[CSTATE_COUNTERS];
	struct cpuidle_count idle[CPUIDLE_MAX_STATES];
	uint32_t *ns = d->ns + index * d->nr_columns;
	unsigned int state = point->state;

	if (d->broken || !d->nr_columns || index >= d->max_points)
		return;
	if (cstate_read(&d->hw, now) || cpuidle_watch_read(&d->idle, idle)) {
		d->broken = true;
		return;
	}
	for (int i = 0; i < d->hw.nr; i++) {
		cycles[i] = now[i] - d->last[i];
		d->sum[i] += cycles[i];
		ns[i] = clamp_ns((double)cycles[i] * d->ns_per_cycle);
	}
	if (state < (unsigned int)d->idle.nr) {
		ns[d->hw.nr] =
			clamp_ns((double)(idle[state].time_ns - d->idle_last[state].time_ns));
		point->entered = entered(idle[state].usage != d->idle_last[state].usage);
	}
	/* The hardware knows better than the kernel what became of the request. */
	if (state < CPUIDLE_MAX_STATES && d->counter_of[state] >= 0)
		point->entered = entered(cycles[d->counter_of[state]]);
	point->package = package_slept(d, cycles);
	memcpy(d->last, now, sizeof(d->last));
	memcpy(d->idle_last, idle, sizeof(d->idle_last));
}

const char *wake_depth_by(const struct wake_depth *d, unsigned int state)
{
	if (state < CPUIDLE_MAX_STATES && d->opened && d->counter_of[state] >= 0)
		return "cstate_core";
	return state < (unsigned int)d->idle.nr ? "cpuidle" : NULL;
}

void wake_depth_close(struct wake_depth *d)
{
	if (d->opened) {
		cstate_close(&d->hw);
		cpuidle_watch_close(&d->idle);
	}
	free(d->ns);
	*d = (struct wake_depth){0};
}
