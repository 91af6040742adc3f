/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waits under sched_ext schedulers: counts and sums of runq and of a trace against the switches of
 * the same time, with a scheduler that is enabled before the window or in the middle of it.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "scx_load.h"
#include "truth.h"
#include "witness.h"

#define NR_CPUS	 2
#define NR_TASKS 5
#define ROUNDS	 40
#define LEAD_NS	 (3 * MEASURED_LEAD_NS)

struct plan {
	uint64_t begin_ns;
	uint32_t started, done;
};

/* Tasks that may use both cores unless pinned. */
static const struct {
	int group, cpu; /* cpu -1: both cores */
	uint64_t period_ns, burn_ns;
} roles[NR_TASKS] = {
	{0, -1, 3 * NSEC_PER_MSEC, 700 * NSEC_PER_USEC},
	{0, -1, 3 * NSEC_PER_MSEC, 500 * NSEC_PER_USEC},
	{1, -1, 5 * NSEC_PER_MSEC, 900 * NSEC_PER_USEC},
	{1, 1, 4 * NSEC_PER_MSEC, 600 * NSEC_PER_USEC},
	/* Longer than a slice: loses the core. */
	{1, 0, 20 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC},
};

static void task_run(void *shared)
{
	struct plan *plan = shared;
	unsigned int i = __atomic_fetch_add(&plan->started, 1, __ATOMIC_SEQ_CST);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		if (roles[i].cpu < 0 || roles[i].cpu == cpu)
			CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		_exit(1);
	for (int round = 0; round < ROUNDS; round++) {
		truth_sleep_until(plan->begin_ns + round * roles[i].period_ns);
		truth_burn(roles[i].burn_ns);
	}
	__atomic_fetch_add(&plan->done, 1, __ATOMIC_SEQ_CST);
}

/* Waits of one task by the kernel's events. */
struct seen {
	pid_t pid;
	bool running;
	uint64_t from_ns; /* 0: does not wait */
	uint64_t count, sum_ns, max_ns;
};

static struct seen *seen_of(struct seen *seen, int64_t pid)
{
	for (int i = 0; i < NR_TASKS; i++)
		if (seen[i].pid == pid)
			return &seen[i];
	return NULL;
}

static void watch_switch(const struct witness *w, const struct witness_hit *hit, struct seen *seen)
{
	struct seen *prev = seen_of(seen, witness_field(w, hit, "prev_pid"));
	struct seen *next = seen_of(seen, witness_field(w, hit, "next_pid"));

	if (prev) {
		prev->running = false;
		/* Bits 0 to 7 are states of sleep. Bit 8: preempted. */
		if (!(witness_field(w, hit, "prev_state") & 0xff))
			prev->from_ns = hit->time_ns;
	}
	if (!next)
		return;
	next->running = true;
	if (!next->from_ns)
		return;
	next->count++;
	next->sum_ns += hit->time_ns - next->from_ns;
	if (hit->time_ns - next->from_ns > next->max_ns)
		next->max_ns = hit->time_ns - next->from_ns;
	next->from_ns = 0;
}

static void watch(const struct witness *w, struct seen *seen)
{
	for (size_t i = 0; i < w->nr_hits; i++) {
		const struct witness_hit *hit = &w->hits[i];
		struct seen *woken;

		if (!hit->event) {
			watch_switch(w, hit, seen);
			continue;
		}
		woken = seen_of(seen, witness_field(w, hit, "pid"));
		/* A task that is woken before it has left the core does not wait. */
		if (woken && !woken->running && !woken->from_ns)
			woken->from_ns = hit->time_ns;
	}
}

static void judge_group(const char *name, const char *cgroup, int group, const struct seen *seen,
			json_t *root)
{
	json_t *row = measured_group(root, cgroup);
	double count = live_number(row, "count"), sum = live_number(row, "sum_ns");
	uint64_t waits = 0, ns = 0;

	for (int i = 0; i < NR_TASKS; i++) {
		if (roles[i].group != group)
			continue;
		waits += seen[i].count;
		ns += seen[i].sum_ns;
	}
	live_ok(count == (double)waits, "%s: group %d has %.0f waits, %llu by the switches", name,
		group, count, (unsigned long long)waits);
	live_ok(fabs(sum - (double)ns) <= 2000.0 * count,
		"%s: group %d waited %.0f ns, %llu by the switches: %.0f ns apart per wait", name,
		group, sum, (unsigned long long)ns, (sum - (double)ns) / count);
	live_ok(measured_causes(row) == sum && measured_blame(root, cgroup, NULL) == sum,
		"%s: group %d: causes and blame make the whole", name, group);
	{
		json_t *causes = json_object_get(row, "causes"), *value;
		const char *key;
		json_object_foreach(causes, key, value)
			live_note("%s %.0f", key, json_number_value(value));
	}
}

static void judge(const char *source, enum scx_scheduler which, bool middle, const char *const *groups)
{
	static const char *const events[] = {"sched/sched_switch", "sched/sched_wakeup",
					     "sched/sched_wakeup_new", NULL};
	struct plan *plan = pinned_share(sizeof(*plan));
	struct seen seen[NR_TASKS] = {0};
	struct measured runq;
	struct witness witness;
	uint64_t end_ns, booked[NR_TASKS];
	char name[96];
	json_t *root;

	snprintf(name, sizeof(name), "%s, %s%s", scx_names[which], source, middle ? ", in the middle" : "");
	scx_load(which);
	if (!middle)
		scx_enable();
	plan->begin_ns = clock_mono_ns() + LEAD_NS;
	for (int i = 0; i < NR_TASKS; i++) {
		struct pinned_task task = {.cgroup = groups[roles[i].group], .run = task_run};

		seen[i].pid = pinned_start(&task, plan);
		booked[i] = pinned_schedstat(seen[i].pid).dispatches;
	}
	witness_begin(&witness, events);
	measured_start(&runq, ARGS("runq", "--json", "--blame", "--source", source, "6", "1"));
	truth_sleep_until(plan->begin_ns - NSEC_PER_MSEC);
	truth_turns_start();
	if (middle) {
		truth_sleep_until(plan->begin_ns + 20 * NSEC_PER_MSEC);
		scx_enable();
		live_note("%s: enabled after %.1f ms", name, (double)(clock_mono_ns() - plan->begin_ns) / 1e6);
		truth_sleep_until(plan->begin_ns + 60 * NSEC_PER_MSEC);
		scx_disable();
		live_note("%s: disabled after %.1f ms, %u tasks done", name, (double)(clock_mono_ns() - plan->begin_ns) / 1e6, plan->done);
	}
	while (__atomic_load_n(&plan->done, __ATOMIC_SEQ_CST) < NR_TASKS)
		live_sleep_ms(20);
	end_ns = clock_mono_ns();
	truth_turns_stop();
	root = measured_end(&runq, plan->begin_ns, end_ns);
	witness_end(&witness);
	watch(&witness, seen);
	for (int i = 0; i < NR_TASKS; i++)
		live_ok(pinned_schedstat(seen[i].pid).dispatches - booked[i] == seen[i].count,
			"%s: task %d: %llu waits by the switches, %llu dispatches", name, i,
			(unsigned long long)seen[i].count,
			(unsigned long long)(pinned_schedstat(seen[i].pid).dispatches - booked[i]));
	for (int i = 0; i < 2; i++)
		judge_group(name, groups[i], i, seen, root);
	live_note("%s: ratio %.6f unbooked %.5f unknown %.0f negative %.0f full %.0f", name, live_number(root, "quality.schedstat_ratio"),
		live_number(root, "quality.unbooked_ratio"), live_number(root, "quality.unknown_start_total"), live_number(root, "quality.negative_total"), live_number(root, "quality.table_full_total"));
	measured_note_blame(root);
	witness_free(&witness);
	json_decref(root);
	for (int i = 0; i < NR_TASKS; i++)
		pinned_stop(seen[i].pid);
	if (!middle)
		scx_disable();
}

int main(void)
{
	const char *groups[2];

	truth_begin(NR_CPUS);
	cgroups_open();
	groups[0] = cgroups_make("left");
	groups[1] = cgroups_make("right");
	for (enum scx_scheduler which = 0; which < SCX_NR; which++) {
		judge("sched_info", which, false, groups);
		judge("wakeup", which, false, groups);
		judge("sched_info", which, true, groups);
	}
	return live_done();
}
