/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task wakes up on the core of a busy kernel thread, and waits until the kernel thread sleeps. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "runq_schedules.h"
#include "runs.h"
#include "truth.h"
#include "waits.h"

#define ROUNDS	  4
#define PERIOD_NS (80 * NSEC_PER_MSEC)
/* Delay between the start of the kernel thread's work and the wake-up of the task. */
#define AFTER_NS  (100 * NSEC_PER_USEC)
#define MAP_BYTES (8 << 20)
/*
 * Time of the kernel instructions from the timer interrupt to the enqueue, and from the switch to
 * the task's first clock reading.
 */
#define SLACK_NS 15000
/*
 * Maximum number of additional waits beyond the ROUNDS waits of the schedule, and maximum length of
 * each additional wait. Additional waits occur if subtick's BPF program creates a new group, or if
 * the scheduler runs other tasks first.
 */
#define EXTRAS	 8
#define EXTRA_NS 60000

struct setup {
	const char *cgroup;
	pid_t giver, taker;
	uint64_t begin_ns, dispatches;
	bool given[ROUNDS];
	struct runs runs[ROUNDS];
};

/*
 * Creates a BPF map of many pages. When the test closes the BPF map, a kernel thread frees the
 * pages of the map.
 */
static int large_map(void)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY,
			       .key_size = 4,
			       .value_size = 4096,
			       .max_entries = MAP_BYTES / 4096};

	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static uint64_t due(const struct setup *setup, int round)
{
	return setup->begin_ns + round * PERIOD_NS + PERIOD_NS / 2 + AFTER_NS;
}

static void giver_run(void *shared)
{
	struct setup *setup = shared;

	for (int i = 0; i < ROUNDS; i++) {
		int fd;

		truth_sleep_until(setup->begin_ns + i * PERIOD_NS);
		fd = large_map();
		truth_sleep_until(due(setup, i) - AFTER_NS);
		setup->given[i] = !close(fd);
	}
}

static void taker_run(void *shared)
{
	struct setup *setup = shared;

	truth_sleep_until(setup->begin_ns - PERIOD_NS / 8);
	for (int i = 0; i < ROUNDS; i++)
		runs_burn(&setup->runs[i], due(setup, i), 0);
}

static void *start(uint64_t begin_ns, uint64_t *ret_end_ns)
{
	struct setup *setup = pinned_share(sizeof(*setup));
	struct pinned_task task = {.priority = 20, .run = giver_run};

	setup->begin_ns = begin_ns + PERIOD_NS / 4;
	setup->giver = pinned_start(&task, setup);
	task = (struct pinned_task){
		.cgroup = cgroups_make("taker"), .priority = PINNED_BATCH, .run = taker_run};
	setup->cgroup = task.cgroup;
	setup->taker = pinned_start(&task, setup);
	setup->dispatches = pinned_schedstat(setup->taker).dispatches;
	*ret_end_ns = setup->begin_ns + ROUNDS * PERIOD_NS;
	return setup;
}

/*
 * Lists one wait per round, and the waits of additional dispatches. Returns the number of rounds
 * with a wait behind the kernel thread.
 */
static int list_waits(const struct setup *setup, struct wait_known waits[ROUNDS + EXTRAS])
{
	int given = 0;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t high = setup->runs[i].run[0].from_ns - due(setup, i);
		/*
		 * If the task is preempted before its first clock reading, the gap before that
		 * reading contains several waits.
		 */
		bool whole = !setup->runs[i].losses && high > SLACK_NS;

		waits[i] = (struct wait_known){whole ? high - SLACK_NS : 0, high};
		given += setup->given[i] && high > 200 * NSEC_PER_USEC;
	}
	for (int i = ROUNDS; i < ROUNDS + EXTRAS; i++)
		waits[i] = (struct wait_known){0, EXTRA_NS};
	return given;
}

static void judge(void *state, const char *source, json_t *root)
{
	struct setup *setup = state;
	json_t *group = measured_group(root, setup->cgroup);
	double sum = live_number(group, "sum_ns");
	double behind = live_number(group, "causes.kernel_thread_ns");
	struct wait_known waits[ROUNDS + EXTRAS];
	int given = list_waits(setup, waits);
	int nr = (int)(pinned_schedstat(setup->taker).dispatches - setup->dispatches);
	char name[64];

	snprintf(name, sizeof(name), "%s: kernel thread", source);
	live_ok(given >= ROUNDS / 2 && nr > ROUNDS && nr <= ROUNDS + EXTRAS,
		"%s: works in %d of %d rounds, in which the task is dispatched %d times", name,
		given, ROUNDS, nr);
	waits_judge(name, group, waits, nr);
	live_ok(behind <= sum && sum - behind <= nr * EXTRA_NS,
		"%s: %.0f of %.0f ns behind kernel threads", name, behind, sum);
	live_ok(measured_causes(group) == sum &&
			measured_blame(root, setup->cgroup, "(kernel threads)") >= behind &&
			measured_blame(root, setup->cgroup, NULL) == sum,
		"%s: blamed on kernel threads", name);
	pinned_stop(setup->giver);
	pinned_stop(setup->taker);
}

const struct runq_schedule runq_kthread = {.start = start, .judge = judge};
