/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Culprits of wake-ups between cgroups, and the causes quota and idle exit. */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "judge.h"
#include "live.h"
#include "runq_window.h"

#define BOUND 0.05

static struct runq_opts opts;

/* Answers each byte; its waits are what is measured. */
static pid_t start_wakee(const char *cgroup, int cpu, int in, int out)
{
	const struct sched_param batch = {0};
	pid_t pid = load_fork(cgroup, cpu);
	char byte;

	if (pid)
		return pid;
	/* SCHED_BATCH does not preempt the waker, so the wakee has to wait. */
	if (sched_setscheduler(0, SCHED_BATCH, &batch))
		_exit(1);
	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
	_exit(0);
}

/* Wakes, works on with the wakee queued behind it, then waits for the answer. */
static void wake_many(int in, int out, int times)
{
	char byte = 0;

	for (int i = 0; i < times; i++) {
		uint64_t until;

		if (write(in, &byte, 1) != 1)
			return;
		until = clock_mono_ns() + 50000;
		while (clock_mono_ns() < until)
			;
		if (read(out, &byte, 1) != 1)
			return;
	}
}

static pid_t start_waker(const char *cgroup, int cpu, int in, int out, int times)
{
	pid_t pid = load_fork(cgroup, cpu);

	if (pid)
		return pid;
	wake_many(in, out, times);
	_exit(0);
}

struct setup {
	const char *waker, *wakee, *bound, *sleeper;
	int cpu;
};

/* The wakee sleeps at both ends of the window: its accounting has the same waits as ours. */
static void measure_wakee(void *arg, struct verdict *verdict)
{
	const struct setup *setup = arg;
	struct meter *meter = window_open(&opts);
	struct load_stat s0, s1;
	struct report *report;
	int in[2], out[2];
	pid_t pid, waker_pid;
	double count, sum, behind, waited;
	int times = live_times(3000);

	if (pipe(in) || pipe(out))
		live_skip_all("no pipes");
	pid = start_wakee(setup->wakee, setup->cpu, in[0], out[1]);
	live_sleep_ms(100);
	window_begin(meter);
	s0 = load_schedstat(pid);
	waker_pid = start_waker(setup->waker, setup->cpu, in[1], out[0], times);
	waitpid(waker_pid, NULL, 0);
	s1 = load_schedstat(pid);
	report = window_end(meter, 10);
	load_kill(pid);
	count = window_group(report, setup->wakee, "count");
	sum = window_group(report, setup->wakee, "sum_ns");
	behind = window_blame(report, setup->wakee, setup->waker);
	waited = s1.waited_ns - s0.waited_ns;
	live_note("the waker's group waited %.0f times",
		  window_group(report, setup->waker, "count"));
	verdict_count(verdict, fabs(count - (s1.count - s0.count)) <= 2,
		      "the wakee's cgroup is charged: %.0f waits, %.0f by the kernel's accounting",
		      count, s1.count - s0.count);
	verdict_count(verdict, count >= times, "%.0f waits for %d wake-ups", count, times);
	verdict_figure(verdict, fabs(sum - waited) <= BOUND * sum,
		       "%.2f ms waited, %.2f by the kernel's accounting, within %.0f %%", sum / 1e6,
		       waited / 1e6, BOUND * 100.0);
	/* The wakee waits at least as long as the waker runs after the wake-up. */
	verdict_figure(verdict, behind > 0.5 * sum, "%.2f ms of it behind the waker", behind / 1e6);
	report_free(report);
	meter->ops->close(meter);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
}

/* Throttled by quota: by our figures, and by the kernel's. */
static void measure_quota(void *arg, struct verdict *verdict)
{
	const struct setup *setup = arg;
	double unit = cgroups_v2() ? 1000.0 : 1.0;
	const char *word = cgroups_v2() ? "throttled_usec" : "throttled_time";
	struct meter *meter = window_open(&opts);
	struct report *report;
	double throttled, held, sum, blamed;

	window_begin(meter);
	throttled = cgroups_stat(setup->bound, "cpu.stat", word);
	report = window_end(meter, 2000);
	throttled = (cgroups_stat(setup->bound, "cpu.stat", word) - throttled) * unit;
	held = window_group(report, setup->bound, "causes.throttled_ns");
	sum = window_group(report, setup->bound, "sum_ns");
	blamed = window_blame(report, setup->bound, "(quota)");
	/* Other tasks may add waits. cpu.stat counts the throttled time only. */
	verdict_figure(verdict, throttled > 0.0 && fabs(held - throttled) < 0.1 * throttled,
		       "quota: held %.0f ms, %.0f ms by cpu.stat, within 10 %%", held / 1e6,
		       throttled / 1e6);
	verdict_always(verdict, held <= sum, "quota: held for %.0f ms of the %.0f ms waited",
		       held / 1e6, sum / 1e6);
	verdict_always(verdict, blamed == held, "quota: all of that is blamed on the quota");
	report_free(report);
	meter->ops->close(meter);
}

/* Sleeps and wakes on a core that has nothing else to do. */
static pid_t start_sleeper(const char *cgroup, int cpu)
{
	pid_t pid = load_fork(cgroup, cpu);

	if (pid)
		return pid;
	/* PREEMPT_RT handles the timers of other tasks in ksoftirqd: waits behind that. */
	if (live_realtime())
		sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
	for (;;)
		usleep(2000);
}

static void measure_idle(void *arg, struct verdict *verdict)
{
	const struct setup *setup = arg;
	struct meter *meter = window_open(&opts);
	pid_t pid = start_sleeper(setup->sleeper, setup->cpu);
	struct report *report;
	double idle, sum;

	live_sleep_ms(50);
	window_begin(meter);
	report = window_end(meter, 1000);
	load_kill(pid);
	idle = window_group(report, setup->sleeper, "causes.idle_exit_ns");
	sum = window_group(report, setup->sleeper, "sum_ns");
	verdict_count(verdict, idle > 0.0,
		      "waits on an idle core are the way out of idle: %.3f ms of %.3f ms in %.0f "
		      "waits",
		      idle / 1e6, sum / 1e6, window_group(report, setup->sleeper, "count"));
	verdict_always(verdict, window_group(report, setup->sleeper, "causes.same_group_ns") == 0.0,
		       "a task that is alone in its cgroup waits behind none of it");
	report_free(report);
	meter->ops->close(meter);
}

int main(void)
{
	struct setup setup;
	/*
	 * Both figures contain the wakee's waits behind any task, so others may use a fifth of the
	 * bound.
	 */
	struct judge_opts wakee = {
		.limits = {.taken = 0.5, .waited = -1}, .measure = measure_wakee, .arg = &setup};
	/* A reader that comes late by a period of 50 ms is off by what quota holds in it. */
	struct judge_opts quota = {
		.limits = {.taken = 0.05, .waited = 0.01}, .measure = measure_quota, .arg = &setup};
	/* Enough of the second that the core is idle now and then. */
	struct judge_opts idle = {
		.limits = {.taken = 0.5, .waited = -1}, .measure = measure_idle, .arg = &setup};
	int other;
	pid_t pid;

	cgroups_open();
	if (!live_two_cpus(&setup.cpu, &other))
		live_skip_all("needs two CPUs");
	wakee.cpu = quota.cpu = idle.cpu = setup.cpu;
	opts = (struct runq_opts){
		.blame = true, .hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1};
	setup.waker = cgroups_make("waker");
	setup.wakee = cgroups_make("wakee");
	setup.bound = cgroups_make("bound");
	setup.sleeper = cgroups_make("sleeper");
	live_pin(other);
	live_first();
	judge(&wakee);
	if (!cgroups_quota(setup.bound, 10000, 50000)) {
		live_skip("quota", "no CPU quota here");
	} else {
		pid = load_burner(setup.bound, setup.cpu);
		judge(&quota);
		load_kill(pid);
	}
	judge(&idle);
	return live_done();
}
