/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task that waits on one core is moved to another, which is idle: one wait, in two parts. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "truth.h"
#include "waits.h"

#define ROUNDS	  16
#define PERIOD_NS (5 * NSEC_PER_MSEC)

struct move {
	const char *mover_cgroup, *moved_cgroup;
	pid_t mover, moved;
	uint64_t begin_ns;
	uint32_t word;
	struct round {
		uint64_t wake_ns, woken_ns, move_ns, moved_ns, run_ns;
	} round[ROUNDS];
};

static void allow(pid_t pid, int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(pid, sizeof(one), &one))
		_exit(1);
}

/* On CPU 1, and of higher priority than who waits there. */
static void mover_run(void *shared)
{
	struct move *move = shared;

	for (int i = 0; i < ROUNDS; i++) {
		struct round *round = &move->round[i];

		truth_sleep_until(move->begin_ns + i * PERIOD_NS);
		allow(move->moved, 1);
		round->wake_ns = clock_mono_ns();
		pinned_wake(&move->word);
		round->woken_ns = clock_mono_ns();
		truth_burn((200 + 100 * i) * NSEC_PER_USEC);
		round->move_ns = clock_mono_ns();
		allow(move->moved, 0);
		round->moved_ns = clock_mono_ns();
	}
}

static void moved_run(void *shared)
{
	struct move *move = shared;

	for (int i = 0; i < ROUNDS; i++) {
		pinned_wait(&move->word, i + 1);
		move->round[i].run_ns = clock_mono_ns();
	}
}

static void judge_wait(const char *source, const struct move *move, json_t *root)
{
	json_t *group = measured_group(root, move->moved_cgroup);
	double sum = live_number(group, "sum_ns");
	double migrated = live_number(group, "causes.migrated_ns");
	struct wait_known waits[ROUNDS], before[ROUNDS];
	char name[32];

	for (int i = 0; i < ROUNDS; i++) {
		const struct round *r = &move->round[i];

		waits[i] = (struct wait_known){r->move_ns - r->woken_ns, r->run_ns - r->wake_ns};
		before[i] = (struct wait_known){r->move_ns - r->woken_ns, r->moved_ns - r->wake_ns};
	}
	snprintf(name, sizeof(name), "%s: moved", source);
	live_note("%s: each wait is known to %llu ns by the tasks' stamps, its first part to %llu",
		  name, (unsigned long long)waits_slack(waits, ROUNDS),
		  (unsigned long long)waits_slack(before, ROUNDS));
	waits_judge(name, group, waits, ROUNDS);
	live_ok(measured_causes(group) == sum &&
			measured_blame(root, move->moved_cgroup, NULL) == sum,
		"%s: causes and blame make the whole", name);
	/* Source wakeup has no way to know what was waited where. */
	if (!strcmp(source, "wakeup"))
		return;
	live_ok(migrated >= (double)waits_low(before, ROUNDS) &&
			migrated <= (double)waits_high(before, ROUNDS),
		"%s: %.0f ns before the move, by stamps %llu to %llu", name, migrated,
		(unsigned long long)waits_low(before, ROUNDS),
		(unsigned long long)waits_high(before, ROUNDS));
	live_ok(live_number(group, "causes.idle_exit_ns") == sum - migrated &&
			measured_blame(root, move->moved_cgroup, "(idle)") == sum - migrated &&
			measured_blame(root, move->moved_cgroup, "(other core)") == migrated,
		"%s: the rest is the way of the other core out of idle", name);
}

static void judge(const char *source, const char *mover, const char *moved)
{
	const char *const args[] = {"runq", "--json", "--blame", "--source",
				    source, "4",      "1",	 NULL};
	struct pinned_task task = {.cgroup = moved, .cpu = 1, .priority = 10, .run = moved_run};
	struct move *move = pinned_share(sizeof(*move));
	struct measured measured;
	double ratio;
	json_t *root;

	move->mover_cgroup = mover;
	move->moved_cgroup = moved;
	move->begin_ns = clock_mono_ns() + 2 * MEASURED_LEAD_NS;
	move->moved = pinned_start(&task, move);
	task = (struct pinned_task){.cgroup = mover, .cpu = 1, .priority = 20, .run = mover_run};
	move->mover = pinned_start(&task, move);
	measured_start(&measured, args);
	root = measured_end(&measured, move->begin_ns, move->begin_ns + ROUNDS * PERIOD_NS);
	judge_wait(source, move, root);
	ratio = live_number(root, "quality.schedstat_ratio");
	live_ok(ratio > 0.999 && ratio < 1.001, "%s: schedstat_ratio %.6f", source, ratio);
	json_decref(root);
	pinned_stop(move->mover);
	pinned_stop(move->moved);
}

int main(void)
{
	const char *mover, *moved;

	truth_begin(2);
	cgroups_open();
	mover = cgroups_make("mover");
	moved = cgroups_make("moved");
	judge("sched_info", mover, moved);
	judge("wakeup", mover, moved);
	return live_done();
}
