/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inline softirq work on an idle core is seen, and task-based sources miss it. */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/flood.h"
#include "judge.h"
#include "live.h"
#include "runq_window.h"
#include "host/file.h"

#define LEAST_BUSY 0.05
#define CLOSURE	   0.005
#define STEPS	   10 /* of slowing down */

/*
 * Softirqs must have more than half of a busy time of 5 % at least: what takes less than half of
 * that cannot outweigh them. A sender that does not run sends nothing. The test itself causes the
 * IPIs by which RPS steers packets to the core.
 */
static const struct witness_limits limits = {
	.taken = LEAST_BUSY / 2, .waited = 0.25, .own_irqs = UINT_MAX, .own_interrupts = true};

struct setup {
	struct subtick *bpf, *tasks, *schedstat;
	struct gen_child flood;
	struct flood_opts opts;
	int cpu;
};

static pid_t ksoftirqd_of(int cpu)
{
	char want[32], path[300], name[32];
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	pid_t pid = 0;

	snprintf(want, sizeof(want), "ksoftirqd/%d", cpu);
	while (proc && !pid && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (atoi(entry->d_name) > 0 && sys_read_file(NULL, path, name, sizeof(name)) > 0 &&
		    !strcmp(name, want))
			pid = atoi(entry->d_name);
	}
	if (proc)
		closedir(proc);
	return pid;
}

/*
 * More than the core can take goes to ksoftirqd, which every source sees: less of it, then. How
 * much the thread runs is in the scheduler's own accounting.
 */
static void find_pace(struct setup *setup)
{
	pid_t ksoftirqd = ksoftirqd_of(setup->cpu);
	struct err err = {0};

	for (int i = 0; i < STEPS && ksoftirqd && !live_realtime(); i++) {
		double before = load_schedstat(ksoftirqd).ran_ns, share;

		live_sleep_ms(300);
		share = (load_schedstat(ksoftirqd).ran_ns - before) / 300e6;
		if (!(share > LEAST_BUSY / 5))
			break;
		gen_child_stop(&setup->flood);
		setup->opts.pause_ns = setup->opts.pause_ns ? 2 * setup->opts.pause_ns : 50000;
		live_note("ksoftirqd has %.1f %% of the core: pauses of %llu us", share * 100.0,
			  (unsigned long long)setup->opts.pause_ns / 1000);
		if (flood_start(&setup->flood, &setup->opts, &err))
			live_fail_all("%s", err.what);
		live_sleep_ms(200);
	}
}

static void update(struct subtick *load)
{
	if (load)
		live_update(load);
}

static void update_all(const struct setup *setup)
{
	update(setup->bpf);
	update(setup->tasks);
	update(setup->schedstat);
}

/* Softirqs on top of the idle loop belong to no task. Under PREEMPT_RT they run in a thread. */
static void check_others(struct verdict *verdict, const struct setup *setup, double busy)
{
	struct live_split split;
	double tasks;

	live_split(setup->tasks, setup->cpu, &split);
	tasks = split.busy;
	if (live_realtime()) {
		verdict_figure(verdict, tasks > busy / 2, "taskclock sees it: %.1f %%",
			       tasks * 100.0);
		return;
	}
	verdict_figure(verdict, tasks < busy / 2, "taskclock misses it: %.1f %%", tasks * 100.0);
	if (!setup->schedstat) {
		verdict_unknown(verdict, "this kernel has no /proc/schedstat",
				"schedstat misses it");
		return;
	}
	live_split(setup->schedstat, setup->cpu, &split);
	tasks = split.busy;
	verdict_figure(verdict, tasks < busy / 2, "schedstat misses it: %.1f %%", tasks * 100.0);
}

static void measure(void *arg, struct verdict *verdict)
{
	const struct setup *setup = arg;
	uint64_t sent = flood_sent(&setup->flood);
	struct live_split s = {0};
	double where, parts;

	update_all(setup);
	live_sleep_ms(1000);
	update_all(setup);
	live_split(setup->bpf, setup->cpu, &s);
	where = live_realtime() ? s.ksoftirqd : s.softirq_on_idle;
	parts = s.task + s.hardirq + s.softirq_on_idle + s.softirq_on_task + s.ksoftirqd +
		s.idle_loop;
	live_note("%llu packets", (unsigned long long)(flood_sent(&setup->flood) - sent));
	verdict_figure(verdict, s.busy > LEAST_BUSY, "the steered core is busy: %.1f %%",
		       s.busy * 100.0);
	verdict_figure(
		verdict, where > s.busy / 2,
		"mostly with softirqs %s: %.1f %% (tasks %.1f, hardirq %.1f, idle loop %.1f)",
		live_realtime() ? "in their threads, under PREEMPT_RT" : "on idle", where * 100.0,
		s.task * 100.0, s.hardirq * 100.0, s.idle_loop * 100.0);
	check_others(verdict, setup, s.busy);
	verdict_figure(verdict, s.closure_error < CLOSURE, "closure error %.4f %% is under %.1f %%",
		       s.closure_error * 100.0, CLOSURE * 100.0);
	verdict_always(verdict, fabs(s.busy - parts) < 1e-4,
		       "busy is the sum of its parts: %.4f %%, %.4f %%", s.busy * 100.0,
		       parts * 100.0);
}

int main(void)
{
	struct setup setup = {.opts = {.burst = 64}};
	struct judge_opts opts = {.limits = limits, .measure = measure, .arg = &setup};
	struct err err = {0};
	int other;

	if (!live_two_cpus(&setup.cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs((const char *const[]){"load", "--source", "bpf", "0.01", "1", NULL});
	live_needs((const char *const[]){"load", "--source", "taskclock", "0.01", "1", NULL});
	live_pin(other);
	setup.bpf = live_source("bpf", true);
	setup.tasks = live_source("taskclock", true);
	setup.schedstat = live_source("schedstat", false);
	setup.opts.send_cpu = other;
	setup.opts.recv_cpu = setup.cpu;
	opts.cpu = setup.cpu;
	if (flood_start(&setup.flood, &setup.opts, &err))
		live_skip_all("%s", err.what);
	live_sleep_ms(200);
	find_pace(&setup);
	judge(&opts);
	gen_child_stop(&setup.flood);
	subtick_close(setup.schedstat);
	subtick_close(setup.tasks);
	subtick_close(setup.bpf);
	return live_done();
}
