/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the waits of a busy task whose cgroup has a quota of 2 ms per 10 ms. The quota throttles
 * the busy task for the remaining 8 ms of each period.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "runq_schedules.h"
#include "runs.h"
#include "truth.h"
#include "waits.h"

#define QUOTA_US  2000
#define PERIOD_US 10000
#define LENGTH_NS (100 * NSEC_PER_MSEC)
/* Minimum length of a throttled gap. Kernel threads cause only shorter gaps. */
#define HOLD_NS (100 * NSEC_PER_USEC)
/*
 * Maximum difference between a gap in the task's clock readings and the wait inside the gap: the
 * path from the last reading to the switch, and from the switch back to the next reading.
 */
#define SLACK_NS 20000

struct bound {
	const char *cgroup;
	pid_t pid;
	uint64_t begin_ns, dispatches;
	double throttled_us;
	struct runs runs;
};

static void burn(void *shared)
{
	struct bound *bound = shared;

	runs_burn(&bound->runs, bound->begin_ns, bound->begin_ns + LENGTH_NS);
}

static void *start(uint64_t begin_ns, uint64_t *ret_end_ns)
{
	struct bound *bound = pinned_share(sizeof(*bound));
	struct pinned_task task = {.cgroup = cgroups_make("bound"), .run = burn};

	if (!cgroups_quota(task.cgroup, QUOTA_US, PERIOD_US))
		live_fail_all("no CPU quota in this guest");
	bound->cgroup = task.cgroup;
	bound->begin_ns = begin_ns;
	bound->pid = pinned_start(&task, bound);
	bound->dispatches = pinned_schedstat(bound->pid).dispatches;
	bound->throttled_us = cgroups_stat(bound->cgroup, "cpu.stat", "throttled_usec");
	*ret_end_ns = begin_ns + LENGTH_NS + 20 * NSEC_PER_MSEC;
	return bound;
}

static int by_length(const void *a, const void *b)
{
	const struct wait_known *x = a, *y = b;

	return (x->high_ns < y->high_ns) - (x->high_ns > y->high_ns);
}

/*
 * Lowers the lower bounds of the @merged longest gaps. If the task is throttled again before its
 * next clock reading, two waits have one merged gap. The task's switch count gives only the number
 * of merged gaps (@merged), not their place.
 */
static void allow_merged(struct wait_known *waits, int holds, int merged)
{
	qsort(waits, (size_t)holds, sizeof(*waits), by_length);
	for (int i = 0; i < merged && merged < holds; i++)
		if (waits[i].low_ns > waits[merged].low_ns)
			waits[i].low_ns = waits[merged].low_ns;
}

/*
 * Lists the throttled gaps first, then all other waits. Returns the number of throttled gaps. The
 * busy task has one wait for each time that it lost the core, and one wait after its first wake-up.
 */
static int list_waits(const struct bound *bound, struct wait_known waits[RUNS_MAX])
{
	int holds = 0, others = bound->runs.losses + 1;

	memset(waits, 0, RUNS_MAX * sizeof(*waits));

	for (int i = 0; i + 1 < bound->runs.nr; i++) {
		uint64_t gap = bound->runs.run[i + 1].from_ns - bound->runs.run[i].to_ns;

		if (gap > HOLD_NS)
			waits[holds++] = (struct wait_known){gap - SLACK_NS, gap};
		else
			waits[--others] = (struct wait_known){0, gap};
	}
	/* The first wait of the task begins with its wake-up at the start of the schedule. */
	waits[--others] = (struct wait_known){0, bound->runs.run[0].from_ns - bound->begin_ns};
	allow_merged(waits, holds, others - holds);
	return holds;
}

static void judge(void *state, const char *source, json_t *root)
{
	struct bound *bound = state;
	json_t *group = measured_group(root, bound->cgroup);
	double sum = live_number(group, "sum_ns"), held = live_number(group, "causes.throttled_ns");
	double throttled = 1e3 * (cgroups_stat(bound->cgroup, "cpu.stat", "throttled_usec") -
				  bound->throttled_us);
	struct wait_known waits[RUNS_MAX];
	int holds = list_waits(bound, waits), nr = bound->runs.losses + 1;
	char name[64];

	snprintf(name, sizeof(name), "%s: quota", source);
	live_ok(pinned_schedstat(bound->pid).dispatches - bound->dispatches == (uint64_t)nr,
		"%s: held %d times, dispatched %d times", name, holds, nr);
	waits_judge(name, group, waits, nr);
	/*
	 * In cpu.stat, throttling ends when the cgroup is unthrottled. In `subtick runq`,
	 * throttling ends at the next switch, up to 5 us later.
	 */
	live_ok(fabs(held - throttled) <= holds * 5000.0, "%s: %.0f ns held, %.0f by cpu.stat",
		name, held, throttled);
	live_ok(held >= (double)waits_low(waits, holds) && held <= (double)waits_high(waits, holds),
		"%s: by stamps %llu to %llu", name, (unsigned long long)waits_low(waits, holds),
		(unsigned long long)waits_high(waits, holds));
	live_ok(measured_blame(root, bound->cgroup, "(quota)") == held &&
			measured_blame(root, bound->cgroup, NULL) == sum &&
			measured_causes(group) == sum,
		"%s: blamed on the quota", name);
	pinned_stop(bound->pid);
}

const struct runq_schedule runq_quota = {.start = start, .judge = judge};
