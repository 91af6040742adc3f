/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the pressure of a cgroup whose two child cgroups wait at the same time, and the pressure of
 * a cgroup that is throttled.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "runs.h"
#include "truth.h"

#define ROUNDS	  20
#define PERIOD_NS (20 * NSEC_PER_MSEC)
#define LEAD_NS	  (2 * MEASURED_LEAD_NS)
/*
 * Allowed time of the kernel instructions from a timer to the wake-up, or from the last timestamp
 * of a task to the first timestamp of the next task.
 */
#define SLACK_NS (20 * NSEC_PER_USEC)

#define QUOTA_US  2000
#define PERIOD_US 10000
#define BOUND_NS  (100 * NSEC_PER_MSEC)
/* Minimum length of a throttled gap. Kernel threads cause only shorter gaps. */
#define HOLD_NS (100 * NSEC_PER_USEC)

/* A task that uses the CPU once in each round, from its start time in the round. */
struct timed_task {
	uint64_t begin_ns, after_ns, burn_ns;
	uint64_t run_ns[ROUNDS], end_ns[ROUNDS];
	pid_t pid;
};

enum {
	HOG,
	FIRST,
	SECOND,
	NR_TASKS
};

struct bound {
	const char *cgroup;
	uint64_t begin_ns;
	pid_t pid;
	struct runs runs;
};

static uint64_t due(const struct timed_task *task, int round)
{
	return task->begin_ns + round * PERIOD_NS + task->after_ns;
}

static void play(void *shared)
{
	struct timed_task *task = shared;

	for (int i = 0; i < ROUNDS; i++) {
		truth_sleep_until(due(task, i));
		task->run_ns[i] = clock_mono_ns();
		truth_burn(task->burn_ns);
		task->end_ns[i] = clock_mono_ns();
	}
}

static void burn(void *shared)
{
	struct bound *bound = shared;

	runs_burn(&bound->runs, bound->begin_ns, bound->begin_ns + BOUND_NS);
}

/*
 * Checks that the value @key of @row lies between @high_ns - @edges * SLACK_NS and @high_ns.
 * @high_ns is the total length of intervals that have @edges starts and ends.
 */
static void judge_time(const char *what, json_t *row, const char *key, uint64_t high_ns, int edges)
{
	double ns = row ? live_number(row, key) : -1.0;
	double low_ns = (double)high_ns - (double)edges * SLACK_NS;

	live_ok(ns >= low_ns && ns <= (double)high_ns, "%s: %s %.0f, by stamps %.0f to %llu", what,
		key, ns, low_ns, (unsigned long long)high_ns);
}

/*
 * Computes the pressure of a schedule with three tasks. In each round the task HOG takes the core,
 * then the task FIRST is woken, and then the task SECOND is woken. When the task HOG sleeps, FIRST
 * runs. When FIRST sleeps, SECOND runs. The task SECOND waits from its wake-up until FIRST sleeps.
 */
static void judge_together(json_t *root, const char *both, const char *const own[NR_TASKS],
			   const struct timed_task *p)
{
	uint64_t first = 0, second = 0, any = 0, stalled = 0;
	json_t *row = live_row(root, "pressure", "cgroup", both);

	for (int i = 0; i < ROUNDS; i++) {
		first += p[FIRST].run_ns[i] - due(&p[FIRST], i);
		second += p[SECOND].run_ns[i] - due(&p[SECOND], i);
		any += p[SECOND].run_ns[i] - due(&p[FIRST], i);
		/*
		 * In each round the cgroup @both is also stalled between the end of FIRST and the
		 * start of SECOND, so a round has four edges.
		 */
		stalled += p[FIRST].run_ns[i] - due(&p[FIRST], i) + p[SECOND].run_ns[i] -
			   p[FIRST].end_ns[i];
	}
	judge_time("first", live_row(root, "pressure", "cgroup", own[FIRST]), "waiting_ns", first,
		   2 * ROUNDS);
	judge_time("first", live_row(root, "pressure", "cgroup", own[FIRST]), "stalled_ns", first,
		   2 * ROUNDS);
	judge_time("second", live_row(root, "pressure", "cgroup", own[SECOND]), "waiting_ns",
		   second, 2 * ROUNDS);
	judge_time("both", row, "waiting_ns", any, 2 * ROUNDS);
	judge_time("both", row, "stalled_ns", stalled, 4 * ROUNDS);
	live_ok(row && live_number(row, "waiting_contention_ns") == live_number(row, "waiting_ns"),
		"both: all of it behind the hog");
	live_ok(any < first + second - 4 * ROUNDS * SLACK_NS,
		"the union differs from the sum by more than the slack");
	live_ok(live_number(live_row(root, "pressure", "cgroup", "/"), "waiting_ns") >=
			live_number(row, "waiting_ns"),
		"the machine: no less than its cgroup");
}

static void judge_quota(json_t *root, const struct bound *bound)
{
	json_t *row = live_row(root, "pressure", "cgroup", bound->cgroup);
	uint64_t held = 0;
	int holds = 0;

	for (int i = 0; i + 1 < bound->runs.nr; i++) {
		uint64_t gap = bound->runs.run[i + 1].from_ns - bound->runs.run[i].to_ns;

		if (gap <= HOLD_NS)
			continue;
		held += gap;
		holds++;
	}
	live_ok(holds >= 5, "quota: held %d times", holds);
	judge_time("quota", row, "waiting_quota_ns", held, 2 * holds);
	live_ok(row && live_number(row, "stalled_quota_ns") == live_number(row, "waiting_quota_ns"),
		"quota: stalled all that time");
}

int main(void)
{
	static const char *const args[] = {"runq", "--json", "--pressure", "5.5", "1", NULL};
	static const uint64_t after_ns[] = {0, NSEC_PER_MSEC, 3 * NSEC_PER_MSEC};
	static const uint64_t burn_ns[] = {5 * NSEC_PER_MSEC, 2 * NSEC_PER_MSEC, NSEC_PER_MSEC};
	static char paths[NR_TASKS][128];
	const char *both, *own[NR_TASKS];
	struct timed_task *timed;
	struct measured measured;
	struct bound *bound;
	uint64_t begin_ns, end_ns;
	json_t *root;

	truth_begin(1);
	cgroups_open();
	timed = pinned_share(NR_TASKS * sizeof(*timed));
	bound = pinned_share(sizeof(*bound));
	both = cgroups_make("both");
	own[HOG] = cgroups_make("hog");
	begin_ns = clock_mono_ns() + LEAD_NS;
	for (int i = 0; i < NR_TASKS; i++) {
		struct pinned_task task = {.priority = 30 - i, .run = play};

		if (i != HOG) {
			snprintf(paths[i], sizeof(paths[i]), "%s/%d", both, i);
			own[i] = paths[i];
			if (!cgroups_mkdir(own[i]))
				live_fail_all("no cgroup below another in this guest");
		}
		task.cgroup = own[i];
		timed[i] = (struct timed_task){
			.begin_ns = begin_ns, .after_ns = after_ns[i], .burn_ns = burn_ns[i]};
		timed[i].pid = pinned_start(&task, &timed[i]);
	}
	bound->cgroup = cgroups_make("bound");
	bound->begin_ns = begin_ns + (ROUNDS + 1) * PERIOD_NS;
	if (!cgroups_quota(bound->cgroup, QUOTA_US, PERIOD_US))
		live_fail_all("no CPU quota in this guest");
	bound->pid =
		pinned_start(&(struct pinned_task){.cgroup = bound->cgroup, .run = burn}, bound);
	end_ns = bound->begin_ns + BOUND_NS + PERIOD_NS;
	measured_start(&measured, args);
	truth_sleep_until(end_ns);
	root = measured_end(&measured, begin_ns, end_ns);
	judge_together(root, both, own, timed);
	judge_quota(root, bound);
	live_ok(live_number(root, "quality.pressure_full_total") == 0 &&
			live_number(root, "quality.pressure_shared_total") == 0 &&
			live_number(root, "quality.pressure_unstable_total") == 0,
		"nothing lost");
	json_decref(root);
	for (int i = 0; i < NR_TASKS; i++)
		pinned_stop(timed[i].pid);
	pinned_stop(bound->pid);
	for (int i = FIRST; i < NR_TASKS; i++)
		cgroups_remove(own[i]);
	return live_done();
}
