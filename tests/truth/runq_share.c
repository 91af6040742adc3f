/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the waits of two busy tasks of different cgroups that share a core under the fair
 * scheduler.
 */
#include <stdio.h>
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

#define LENGTH_NS (60 * NSEC_PER_MSEC)
/*
 * Largest share of the waits outside the tasks' clock readings: ticks, switches, kernel threads and
 * subtick run between a reading of one task and a reading of the other task.
 */
#define UNKNOWN_RATIO 0.02

struct burner {
	const char *cgroup;
	pid_t pid;
	uint64_t begin_ns, dispatches;
	struct runs runs;
};

struct pair {
	struct burner burner[2];
};

static void burn(void *shared)
{
	struct burner *burner = shared;

	runs_burn(&burner->runs, burner->begin_ns, burner->begin_ns + LENGTH_NS);
}

/*
 * Lists the waits of task @own. The first wait of @own begins with its wake-up, and each later wait
 * begins with a preemption. If @own is preempted before its first clock reading, the first gap
 * contains the wait after the wake-up and the wait after the preemption.
 */
static int list_waits(const struct burner *own, const struct burner *other,
		      struct wait_known waits[RUNS_MAX])
{
	uint64_t from = own->begin_ns;

	memset(waits, 0, RUNS_MAX * sizeof(*waits));

	for (int i = 0; i < own->runs.nr; i++) {
		const struct run *run = &own->runs.run[i];

		waits[i].low_ns = runs_inside(&other->runs, from, run->from_ns);
		waits[i].high_ns = run->from_ns - from;
		from = run->to_ns;
	}
	return own->runs.losses + 1;
}

static void judge_one(const char *source, const struct burner *own, const struct burner *other,
		      json_t *root)
{
	json_t *group = measured_group(root, own->cgroup);
	double sum = live_number(group, "sum_ns");
	double preempted = live_number(group, "causes.preempted_ns");
	double behind = measured_blame(root, own->cgroup, other->cgroup);
	struct wait_known waits[RUNS_MAX];
	int nr = list_waits(own, other, waits);
	/* If the first gap in the clock readings contains two waits, their lengths are unknown. */
	double mixed = own->runs.early ? (double)waits[0].high_ns : 0.0;
	double unknown;
	char name[64];

	snprintf(name, sizeof(name), "%s: share %s", source, own->cgroup);
	unknown = 1.0 - (double)waits_low(waits, nr) / (double)waits_high(waits, nr);
	live_ok(nr >= 4 && unknown <= UNKNOWN_RATIO,
		"%s: the sum of %d waits is known to %.2f %% by the tasks' stamps", name, nr,
		unknown * 100.0);
	live_ok(pinned_schedstat(own->pid).dispatches - own->dispatches == (uint64_t)nr,
		"%s: as many dispatches by the kernel", name);
	waits_judge(name, group, waits, nr);
	live_ok(preempted >= (double)waits_low(waits + 1, nr - 1) &&
			preempted <= (double)waits_high(waits + 1, nr - 1) + mixed,
		"%s: %.0f ns preempted, by stamps %llu to %.0f", name, preempted,
		(unsigned long long)waits_low(waits + 1, nr - 1),
		(double)waits_high(waits + 1, nr - 1) + mixed);
	live_ok(measured_causes(group) == sum &&
			sum - preempted >= (double)waits[0].low_ns - mixed &&
			sum - preempted <= (double)waits[0].high_ns,
		"%s: the rest is the wait of its first wake-up", name);
	live_ok(behind >= (double)waits_low(waits, nr) && behind <= sum &&
			measured_blame(root, own->cgroup, NULL) == sum,
		"%s: %.0f of %.0f ns blamed on the other, at least %llu", name, behind, sum,
		(unsigned long long)waits_low(waits, nr));
}

static void *start(uint64_t begin_ns, uint64_t *ret_end_ns)
{
	static const char *const names[2] = {"one-half", "other-half"};
	struct pair *pair = pinned_share(sizeof(*pair));

	for (int i = 0; i < 2; i++) {
		struct burner *burner = &pair->burner[i];
		struct pinned_task task = {.cgroup = cgroups_make(names[i]), .run = burn};

		burner->cgroup = task.cgroup;
		burner->begin_ns = begin_ns;
		burner->pid = pinned_start(&task, burner);
		burner->dispatches = pinned_schedstat(burner->pid).dispatches;
	}
	*ret_end_ns = begin_ns + LENGTH_NS + 20 * NSEC_PER_MSEC;
	return pair;
}

static void judge(void *state, const char *source, json_t *root)
{
	struct pair *pair = state;

	for (int i = 0; i < 2; i++)
		judge_one(source, &pair->burner[i], &pair->burner[!i], root);
	for (int i = 0; i < 2; i++)
		pinned_stop(pair->burner[i].pid);
}

const struct runq_schedule runq_share = {.start = start, .judge = judge};
