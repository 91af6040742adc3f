/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inline softirq work on an idle core is seen, and task-based sources miss it. */
#include <math.h>
#include <stdio.h>

#include "gen/flood.h"
#include "live.h"
#include "others.h"
#include "subtick/cpu_load.h"

#define TRIES 20

/* More than the core can take goes to ksoftirqd, which every source sees: less of it, then. */
static void slow_down(struct flood *flood, struct flood_opts *opts)
{
	struct err err = {0};

	flood_stop(flood);
	opts->pause_ns = opts->pause_ns ? 2 * opts->pause_ns : 50000;
	if (flood_start(flood, opts, &err))
		live_fail_all("%s", err.what);
	live_sleep_ms(200);
}

static void update(struct cpu_load *load)
{
	if (load)
		cpu_load_update(load);
}

/* What runs on top of the idle loop is no task's time. */
static void check_missed(float busy, float seen_by_tasks, float seen_by_schedstat)
{
	live_ok(seen_by_tasks < busy / 2, "taskclock misses it: %.1f %%", seen_by_tasks * 100.0f);
	if (seen_by_schedstat < 0.0f)
		live_skip("schedstat misses it", "this kernel has no /proc/schedstat");
	else
		live_ok(seen_by_schedstat < busy / 2, "schedstat misses it: %.1f %%",
			seen_by_schedstat * 100.0f);
}

int main(void)
{
	struct flood_opts opts = {.burst = 64};
	struct cpu_load *bpf, *tasks, *schedstat;
	struct cpu_load_split split = {0};
	struct flood flood = {0};
	struct err err = {0};
	float seen_by_tasks = 0.0f, seen_by_schedstat = -1.0f;
	float where = 0.0f;
	double most_others = 0.0;
	bool mostly = false;
	int cpu, other;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs((const char *const[]){"load", "--source", "bpf", "0.01", "1", NULL});
	live_needs((const char *const[]){"load", "--source", "taskclock", "0.01", "1", NULL});
	live_pin(other);
	bpf = live_source("bpf", true);
	tasks = live_source("taskclock", true);
	schedstat = live_source("schedstat", false);
	opts.send_cpu = other;
	opts.recv_cpu = cpu;
	if (flood_start(&flood, &opts, &err))
		live_skip_all("%s", err.what);
	live_sleep_ms(200);
	/* Foreign tasks on the target core are not what is tested: wait for a quiet second. */
	for (int i = 0; i < TRIES && !mostly; i++) {
		struct others before, after;

		others_read(&before);
		update(bpf);
		update(tasks);
		update(schedstat);
		live_sleep_ms(1000);
		update(bpf);
		update(tasks);
		update(schedstat);
		cpu_load_get_split(bpf, cpu, &split);
		seen_by_tasks = cpu_load_get(tasks, cpu);
		if (schedstat)
			seen_by_schedstat = cpu_load_get(schedstat, cpu);
		others_read(&after);
		most_others = fmax(most_others, others_share(&before, &after, cpu));
		others_free(&after);
		others_free(&before);
		where = live_realtime() ? split.ksoftirqd : split.softirq_on_idle;
		mostly = split.busy > 0.05f && where > split.busy / 2;
		if (split.busy > 0.1f && !live_realtime() &&
		    split.ksoftirqd > split.softirq_on_idle)
			slow_down(&flood, &opts);
	}
	live_note("sent %llu packets, last with pauses of %llu us",
		  (unsigned long long)flood_sent(&flood), (unsigned long long)opts.pause_ns / 1000);
	flood_stop(&flood);
	/* What runs on the core while a task is there is not on idle; the scheduler's books tell. */
	if (!mostly && most_others > 0.2)
		live_skip_all("the core was never without other programs: up to %.0f %%",
			      most_others * 100.0);
	live_ok(split.busy > 0.05f, "the steered core is busy: %.1f %%", split.busy * 100.0f);
	live_ok(mostly,
		"mostly with softirqs %s: %.1f %% (tasks %.1f, hardirq %.1f, idle loop %.1f)",
		live_realtime() ? "in their threads, under PREEMPT_RT" : "on idle", where * 100.0f,
		split.task * 100.0f, split.hardirq * 100.0f, split.idle_loop * 100.0f);
	if (live_realtime())
		live_ok(seen_by_tasks > split.busy / 2, "taskclock sees it: %.1f %%",
			seen_by_tasks * 100.0f);
	else
		check_missed(split.busy, seen_by_tasks, seen_by_schedstat);
	live_ok(split.closure_error < live_bound(0.005), "closure error %.4f %% is under %.1f %%",
		split.closure_error * 100.0, live_bound(0.005) * 100.0);
	if (schedstat)
		cpu_load_destroy(schedstat);
	cpu_load_destroy(tasks);
	cpu_load_destroy(bpf);
	return live_done();
}
