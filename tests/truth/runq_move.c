/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that a waiting task that migrates from CPU 1 to CPU 0 has one wait with two parts. CPU 0 is
 * idle, except in every fourth round, in which a task with a higher priority (the rival) runs
 * first.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "runs.h"
#include "truth.h"
#include "waits.h"
#include "witness.h"

#define ROUNDS	  16
#define PERIOD_NS (5 * NSEC_PER_MSEC)
#define SWITCH_NS 2000.0
/* In every fourth round the rival task keeps CPU 0 busy for RIVAL_NS. */
#define RIVAL_EVERY 4
#define RIVAL_NS    (50 * NSEC_PER_USEC)

struct move {
	const char *mover_cgroup, *moved_cgroup, *rival_cgroup;
	pid_t mover, moved, rival;
	uint64_t begin_ns;
	uint32_t word, rival_word;
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

/*
 * Runs on CPU 1 with a higher priority than the waiting task, and moves the waiting task to CPU 0.
 */
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
		if (i % RIVAL_EVERY == RIVAL_EVERY - 1)
			pinned_wake(&move->rival_word);
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

static void rival_run(void *shared)
{
	struct move *move = shared;

	for (uint32_t i = 0; i < ROUNDS / RIVAL_EVERY; i++) {
		pinned_wait(&move->rival_word, i + 1);
		truth_burn(RIVAL_NS);
	}
}

/*
 * Computes, for each round, how long another task (the rival or a kernel thread) ran on CPU 0 while
 * the moved task waited on CPU 0. The test computes the run times of the other tasks from perf's
 * switch events. The moved task arrived on CPU 0 between the two timestamps that the mover took
 * before and after sched_setaffinity(). @only is the PID of the other task, or 0 for any task.
 */
static void find_others(const struct move *move, const struct witness *w, pid_t only,
			struct wait_known *others)
{
	struct run run = {0};
	int64_t who = 0;

	for (size_t i = 0; i < w->nr_hits; i++) {
		const struct witness_hit *hit = &w->hits[i];
		bool counts = who && who != move->moved && (!only || who == only);

		if (hit->cpu)
			continue;
		run.to_ns = hit->time_ns;
		for (int k = 0; k < ROUNDS && counts; k++) {
			const struct round *r = &move->round[k];

			others[k].low_ns += run_inside(&run, r->moved_ns, r->run_ns);
			others[k].high_ns += run_inside(&run, r->move_ns, r->run_ns);
		}
		who = witness_field(w, hit, "next_pid");
		run.from_ns = hit->time_ns;
	}
}

/*
 * Compares @ns, the time that subtick reports behind other tasks on CPU 0, with @others. @others
 * comes from perf's timestamps, which differ from the scheduler's clock by at most SWITCH_NS per
 * round.
 */
static void judge_others(const char *name, const char *whom, const struct wait_known *others,
			 double ns)
{
	double low = (double)waits_low(others, ROUNDS), high = (double)waits_high(others, ROUNDS);
	int met = 0;

	for (int i = 0; i < ROUNDS; i++)
		met += others[i].high_ns > 0;
	live_ok(met >= ROUNDS / RIVAL_EVERY && met <= ROUNDS / 2, "%s: met %s in %d of %d rounds",
		name, whom, met, ROUNDS);
	live_ok(ns >= low - met * SWITCH_NS && ns <= high + met * SWITCH_NS,
		"%s: %.0f ns behind %s, by the witness %.0f to %.0f", name, ns, whom, low, high);
}

/*
 * Checks the wait time of the moved task after its migration. This wait time is the time behind
 * other tasks on CPU 0 plus the idle exit.
 */
static void judge_rest(const char *name, const struct move *move, const struct witness *w,
		       const struct wait_known *any, json_t *root, double rest)
{
	struct wait_known rival[ROUNDS] = {0};
	double idle = live_number(measured_group(root, move->moved_cgroup), "causes.idle_exit_ns");

	find_others(move, w, move->rival, rival);
	judge_others(name, "anybody", any, rest - idle);
	judge_others(name, "the rival", rival,
		     measured_blame(root, move->moved_cgroup, move->rival_cgroup));
	live_ok(measured_blame(root, move->moved_cgroup, "(idle)") == idle,
		"%s: %.0f ns by cause are the way out of idle, and as many by blame", name, idle);
}

static void judge_wait(const char *source, const struct move *move, const struct witness *w,
		       json_t *root)
{
	json_t *group = measured_group(root, move->moved_cgroup);
	double sum = live_number(group, "sum_ns");
	double migrated = live_number(group, "causes.migrated_ns");
	struct wait_known waits[ROUNDS], before[ROUNDS], others[ROUNDS] = {0};
	char name[32];

	find_others(move, w, 0, others);
	for (int i = 0; i < ROUNDS; i++) {
		const struct round *r = &move->round[i];

		waits[i] = (struct wait_known){r->move_ns - r->woken_ns + others[i].low_ns,
					       r->run_ns - r->wake_ns};
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
	/* Source wakeup does not split a wait by core. */
	if (!strcmp(source, "wakeup"))
		return;
	live_ok(migrated >= (double)waits_low(before, ROUNDS) &&
			migrated <= (double)waits_high(before, ROUNDS),
		"%s: %.0f ns before the move, by stamps %llu to %llu", name, migrated,
		(unsigned long long)waits_low(before, ROUNDS),
		(unsigned long long)waits_high(before, ROUNDS));
	live_ok(measured_blame(root, move->moved_cgroup, "(other core)") == migrated,
		"%s: as much is blamed on the other core", name);
	judge_rest(name, move, w, others, root, sum - migrated);
}

static void judge(const char *source, const char *mover, const char *moved, const char *rival)
{
	const char *const args[] = {"runq", "--json", "--blame", "--source",
				    source, "4",      "1",	 NULL};
	static const char *const events[] = {"sched/sched_switch", NULL};
	struct pinned_task task = {.cgroup = moved, .cpu = 1, .priority = 10, .run = moved_run};
	struct move *move = pinned_share(sizeof(*move));
	struct measured measured;
	struct witness witness;
	double ratio;
	json_t *root;

	move->mover_cgroup = mover;
	move->moved_cgroup = moved;
	move->rival_cgroup = rival;
	move->begin_ns = clock_mono_ns() + 2 * MEASURED_LEAD_NS;
	move->moved = pinned_start(&task, move);
	task = (struct pinned_task){.cgroup = mover, .cpu = 1, .priority = 20, .run = mover_run};
	move->mover = pinned_start(&task, move);
	task = (struct pinned_task){.cgroup = rival, .cpu = 0, .priority = 20, .run = rival_run};
	move->rival = pinned_start(&task, move);
	witness_begin(&witness, events);
	measured_start(&measured, args);
	root = measured_end(&measured, move->begin_ns, move->begin_ns + ROUNDS * PERIOD_NS);
	witness_end(&witness);
	judge_wait(source, move, &witness, root);
	witness_free(&witness);
	ratio = live_number(root, "quality.schedstat_ratio");
	live_ok(ratio > 0.999 && ratio < 1.001, "%s: schedstat_ratio %.6f", source, ratio);
	json_decref(root);
	pinned_stop(move->mover);
	pinned_stop(move->moved);
	pinned_stop(move->rival);
}

int main(void)
{
	const char *mover, *moved, *rival;

	truth_begin(2);
	cgroups_open();
	mover = cgroups_make("mover");
	moved = cgroups_make("moved");
	rival = cgroups_make("rival");
	judge("sched_info", mover, moved, rival);
	judge("wakeup", mover, moved, rival);
	return live_done();
}
