/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A high-priority task preempts a low-priority task at known times. Perf events delay each wake-up
 * inside the kernel, and the kernel's wait accounting omits the delay.
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
#include "witness.h"

#define ROUNDS	  24
#define PERIOD_NS (2 * NSEC_PER_MSEC)
/*
 * Allowed time of the kernel instructions of two switches: from the last timestamp of the
 * low-priority task to the first timestamp of the high-priority task, and back.
 */
#define SLACK_NS 30000

/*
 * Since Linux 6.4, ticks come at multiples of their period. The guest has a tick period of 4 ms.
 * The schedule has an offset to the tick, so that no tick coincides with a switch.
 */
#define TICK_NS	 (4 * NSEC_PER_MSEC)
#define PHASE_NS (700 * NSEC_PER_USEC)

struct schedule {
	const char *low, *high; /* cgroups of the two tasks */
	uint64_t begin_ns;
	uint64_t dispatches; /* dispatches of the low-priority task before the schedule */
	pid_t low_pid, high_pid;
	struct witness witness;
	uint64_t run_ns[ROUNDS], sleep_ns[ROUNDS]; /* timestamps of the high-priority task */
	struct runs low_runs;
};

static uint64_t due(const struct schedule *schedule, int round)
{
	return schedule->begin_ns + (round + 1) * PERIOD_NS;
}

static void low_run(void *shared)
{
	struct schedule *schedule = shared;

	runs_burn(&schedule->low_runs, schedule->begin_ns, due(schedule, ROUNDS));
}

static void high_run(void *shared)
{
	struct schedule *schedule = shared;

	for (int i = 0; i < ROUNDS; i++) {
		truth_sleep_until(due(schedule, i));
		schedule->run_ns[i] = clock_mono_ns();
		truth_burn((100 + 50 * i) * NSEC_PER_USEC);
		schedule->sleep_ns[i] = clock_mono_ns();
	}
}

/*
 * Eight perf events stamp each wake-up after the enqueue of the woken task, so the task waits at
 * least for the time between the first and the last of the eight timestamps.
 */
static const char *const events[] = {
	"sched/sched_wakeup", "sched/sched_wakeup", "sched/sched_wakeup",
	"sched/sched_wakeup", "sched/sched_wakeup", "sched/sched_wakeup",
	"sched/sched_wakeup", "sched/sched_wakeup", NULL};

/*
 * Returns the time from the first to the last perf timestamp of wake-ups. stamped() uses wake-ups
 * of task @pid, or wake-ups of all other tasks if @others is true.
 */
static uint64_t stamped(const struct witness *w, pid_t pid, bool others, uint64_t from_ns,
			uint64_t to_ns)
{
	uint64_t first = 0, last = 0;

	for (size_t i = 0; i < w->nr_hits; i++) {
		const struct witness_hit *hit = &w->hits[i];

		if (hit->time_ns < from_ns || hit->time_ns > to_ns ||
		    (witness_field(w, hit, "pid") != pid) != others)
			continue;
		if (!first)
			first = hit->time_ns;
		last = hit->time_ns;
	}
	return last - first;
}

static void high_waits(const struct schedule *schedule, const struct witness *w,
		       struct wait_known *waits)
{
	for (int i = 0; i < ROUNDS; i++) {
		waits[i].low_ns = stamped(w, schedule->high_pid, false, due(schedule, i),
					  schedule->run_ns[i]);
		waits[i].high_ns = schedule->run_ns[i] - due(schedule, i);
	}
}

/*
 * Returns the first run of the low-priority task after round @round of the high-priority task.
 * Returns NULL if the clock readings of the low-priority task have no gap.
 */
static const struct run *run_after(const struct schedule *schedule, int round)
{
	const struct run *run = schedule->low_runs.run;

	for (int g = 1; g < schedule->low_runs.nr; g++)
		if (run[g - 1].to_ns < schedule->run_ns[round] &&
		    run[g].from_ns > schedule->sleep_ns[round])
			return &run[g];
	return NULL;
}

static bool low_waits(const struct schedule *schedule, struct wait_known *waits)
{
	for (int i = 0; i < ROUNDS; i++) {
		const struct run *run = run_after(schedule, i);

		if (!run)
			return false;
		waits[i].low_ns = schedule->sleep_ns[i] - schedule->run_ns[i];
		waits[i].high_ns = run->from_ns - run[-1].to_ns;
	}
	return true;
}

/*
 * Returns the allowed error of the waits of the low-priority task, as a mean per gap in its run
 * time. Only the sum over all gaps is checked, so a single gap may contain an interrupt. If a third
 * task, such as an RCU thread, wakes up in a gap, the allowed error excludes the time of the eight
 * perf stamps, which is not a wait of the low-priority task.
 */
static uint64_t gaps_slack(const struct schedule *schedule, const struct witness *w,
			   const struct wait_known *waits)
{
	uint64_t sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		const struct run *run = run_after(schedule, i);

		sum += waits[i].high_ns - waits[i].low_ns -
		       stamped(w, schedule->high_pid, true, schedule->sleep_ns[i], run->from_ns);
	}
	return sum / ROUNDS;
}

static void judge_high(const char *source, const struct schedule *schedule, const struct witness *w,
		       json_t *root)
{
	json_t *high = measured_group(root, schedule->high);
	double sum = live_number(high, "sum_ns");
	struct wait_known waits[ROUNDS];
	char name[64];

	high_waits(schedule, w, waits);
	live_ok(waits_low(waits, ROUNDS) > ROUNDS * 5000,
		"%s: the witness holds each wake-up up for %llu ns", source,
		(unsigned long long)waits_low(waits, ROUNDS) / ROUNDS);
	snprintf(name, sizeof(name), "%s: high", source);
	waits_judge(name, high, waits, ROUNDS);
	live_ok(live_number(high, "causes.other_group_ns") == sum && measured_causes(high) == sum &&
			measured_blame(root, schedule->high, schedule->low) == sum,
		"%s: high waits for the low one to be put off", source);
}

static void judge_low(const char *source, const struct schedule *schedule, const struct witness *w,
		      json_t *root, uint64_t dispatches)
{
	json_t *low = measured_group(root, schedule->low);
	double sum = live_number(low, "sum_ns"), idle = live_number(low, "causes.idle_exit_ns");
	double preempted = live_number(low, "causes.preempted_ns");
	struct wait_known waits[ROUNDS + 1];
	uint64_t slack;
	char name[64];

	if (!live_ok(low_waits(schedule, waits), "%s: the low one sees each of %d gaps", source,
		     ROUNDS))
		return;
	slack = gaps_slack(schedule, w, waits);
	live_ok(slack <= SLACK_NS, "%s: a gap is known to %llu ns by the tasks' stamps", source,
		(unsigned long long)slack);
	live_note("%s: with third tasks to %llu ns", source,
		  (unsigned long long)waits_slack(waits, ROUNDS));
	live_ok(dispatches == ROUNDS + 1, "%s: the kernel has dispatched the low one %llu times",
		source, (unsigned long long)dispatches);
	live_ok(preempted >= (double)waits_low(waits, ROUNDS) &&
			preempted <= (double)waits_high(waits, ROUNDS),
		"%s: low: %.0f ns preempted, by stamps %llu to %llu", source, preempted,
		(unsigned long long)waits_low(waits, ROUNDS),
		(unsigned long long)waits_high(waits, ROUNDS));
	/*
	 * The first wait of the low-priority task is an idle exit, because the core is idle at its
	 * first wake-up.
	 */
	waits[ROUNDS] =
		(struct wait_known){0, schedule->low_runs.run[0].from_ns - schedule->begin_ns};
	snprintf(name, sizeof(name), "%s: low", source);
	waits_judge(name, low, waits, ROUNDS + 1);
	live_ok(preempted + idle == sum && measured_causes(low) == sum &&
			idle <= (double)waits[ROUNDS].high_ns,
		"%s: low: the rest is its way out of idle", source);
	live_ok(measured_blame(root, schedule->low, schedule->high) == preempted &&
			measured_blame(root, schedule->low, NULL) == sum,
		"%s: low: preempted by the high one", source);
}

static void *start(uint64_t begin_ns, uint64_t *ret_end_ns)
{
	struct schedule *schedule = pinned_share(sizeof(*schedule));
	struct pinned_task task = {.priority = 10, .run = low_run};

	schedule->begin_ns = (begin_ns / TICK_NS + 1) * TICK_NS + PHASE_NS;
	schedule->low = task.cgroup = cgroups_make("low");
	schedule->low_pid = pinned_start(&task, schedule);
	task = (struct pinned_task){.priority = 20, .run = high_run};
	schedule->high = task.cgroup = cgroups_make("high");
	schedule->high_pid = pinned_start(&task, schedule);
	schedule->dispatches = pinned_schedstat(schedule->low_pid).dispatches;
	*ret_end_ns = due(schedule, ROUNDS);
	return schedule;
}

static void enter(void *state)
{
	witness_begin(&((struct schedule *)state)->witness, events);
}

static void leave(void *state)
{
	witness_end(&((struct schedule *)state)->witness);
}

static void judge(void *state, const char *source, json_t *root)
{
	struct schedule *schedule = state;

	judge_high(source, schedule, &schedule->witness, root);
	judge_low(source, schedule, &schedule->witness, root,
		  pinned_schedstat(schedule->low_pid).dispatches - schedule->dispatches);
	live_note("%s: of high's waits the kernel accounts %llu ns", source,
		  (unsigned long long)pinned_schedstat(schedule->high_pid).waited_ns);
	witness_free(&schedule->witness);
	pinned_stop(schedule->low_pid);
	pinned_stop(schedule->high_pid);
}

const struct runq_schedule runq_preempt = {
	.start = start, .enter = enter, .leave = leave, .judge = judge};
