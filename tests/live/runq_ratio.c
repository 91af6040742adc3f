/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On a mixed load: our sum against the kernel's accounting, and samples against the whole. */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroups.h"
#include "judge.h"
#include "live.h"
#include "runq_window.h"

#define RATIO_BOUND 0.02

struct setup {
	const char *cgroup;
	int cpu;
};

/* Forks short-lived children that wait for each other. */
static void fork_many(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		usleep(300);
	}
}

static void burn_and_sleep(void)
{
	for (unsigned int i = 0;; i++) {
		for (volatile unsigned int j = 0; j < 300000; j++)
			;
		if (i % 3 == 0)
			usleep(500);
	}
}

static pid_t start(void (*run)(void))
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		_exit(0);
	}
	return pid;
}

/* Round trips through two pipes on one core; returns CPU seconds of both ends. */
static double ping_pong(const char *cgroup, int cpu, int times)
{
	struct rusage usage;
	pid_t pid = fork();

	if (!pid) {
		int to[2], from[2];
		char byte = 0;

		if (!cgroups_enter(cgroup, 0) || pipe(to) || pipe(from))
			_exit(1);
		live_pin(cpu);
		if (!fork()) {
			close(to[1]);
			while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1)
				;
			_exit(0);
		}
		close(to[0]);
		for (int i = 0; i < times; i++)
			if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
				_exit(1);
		close(to[1]);
		_exit(wait(NULL) < 0);
	}
	if (wait4(pid, NULL, 0, &usage) != pid)
		return NAN;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* The waits seen against those that the kernel accounted, both read by the same window. */
static void measure_ratio(void *arg, struct verdict *verdict)
{
	const struct runq_opts *opts = arg;
	const char *name = opts->source == RUNQ_SOURCE_WAKEUP ? "wakeup" : "sched_info";
	struct meter *meter = window_open(opts);
	struct report *report;
	double ratio;

	window_begin(meter);
	/* The first window has tasks that exited before it. */
	report_free(window_end(meter, 300));
	report = window_end(meter, 2000);
	ratio = window_quality(report, "schedstat_ratio");
	verdict_figure(verdict, fabs(ratio - 1.0) <= RATIO_BOUND,
		       "%s: the waits add up to the kernel's run delay within %.0f %%: %.4f", name,
		       RATIO_BOUND * 100.0, ratio);
	verdict_always(verdict, window_quality(report, "negative_total") == 0.0,
		       "%s: no wait ends before it begins", name);
	report_free(report);
	meter->ops->close(meter);
}

/*
 * Sleeps on one core. Each wake-up has the core at once or preempts the task that has it, and of
 * such waits the kernel accounts almost nothing: it spares itself the update of its clock. Both
 * sources measure the same waits.
 */
static void measure_sleeps(void *arg, struct verdict *verdict)
{
	const struct setup *setup = arg;
	struct runq_opts opts = {.hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1};
	struct meter *meters[2];
	double median[2], count[2];
	pid_t pid = load_fork(setup->cgroup, setup->cpu);

	while (!pid)
		usleep(2000);
	for (int i = 0; i < 2; i++) {
		opts.source = i ? RUNQ_SOURCE_WAKEUP : RUNQ_SOURCE_SCHED_INFO;
		meters[i] = window_open(&opts);
	}
	for (int i = 0; i < 2; i++)
		window_begin(meters[i]);
	live_sleep_ms(2000);
	for (int i = 0; i < 2; i++) {
		struct report *report = window_end(meters[i], 0);

		median[i] = window_group(report, setup->cgroup, "p50_ns");
		count[i] = window_group(report, setup->cgroup, "count");
		report_free(report);
		meters[i]->ops->close(meters[i]);
	}
	load_kill(pid);
	verdict_count(verdict, count[0] > 20 && fabs(count[0] / count[1] - 1.0) < 0.15,
		      "sleeps: %.0f waits by sched_info, %.0f by wakeup", count[0], count[1]);
	verdict_figure(
		verdict, median[0] > median[1] / 4 && median[0] < median[1] * 4,
		"sleeps: median %.0f ns by sched_info, %.0f by wakeup, within a factor of four",
		median[0], median[1]);
}

struct sampled {
	double count, stderr_ratio, cpu_s;
};

static struct sampled sample(const char *cgroup, int cpu, double ratio)
{
	struct runq_opts opts = {.sample_ratio = ratio,
				 .hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1};
	struct meter *meter = window_open(&opts);
	struct sampled got;
	struct report *report;

	window_begin(meter);
	got.cpu_s = ping_pong(cgroup, cpu, live_times(50000));
	report = window_end(meter, 10);
	got.count = window_group(report, cgroup, "count");
	got.stderr_ratio = ratio < 1.0 ? window_group(report, cgroup, "count_stderr_ratio") : 0.0;
	report_free(report);
	meter->ops->close(meter);
	return got;
}

/* The count of a sample lies within four of the standard errors that it states. */
static void measure_sample(void *arg, struct verdict *verdict)
{
	const struct setup *setup = arg;
	struct sampled whole = sample(setup->cgroup, setup->cpu, 1.0);
	struct sampled tenth = sample(setup->cgroup, setup->cpu, 0.1);
	double off = tenth.count / whole.count - 1.0;

	/* Waits for other people's tasks come and go: a percent of slack. */
	verdict_count(verdict, fabs(off) <= 4.0 * tenth.stderr_ratio + 0.01,
		      "a sample of a tenth: %.0f waits ± %.2f %%, of %.0f: off by %.2f %%",
		      tenth.count, tenth.stderr_ratio * 100, whole.count, off * 100);
	verdict_figure(verdict, fabs(tenth.cpu_s / whole.cpu_s - 1.0) < 0.1,
		       "and the load's CPU time is as it was within 10 %%: %.3f s, %.3f s",
		       tenth.cpu_s, whole.cpu_s);
}

int main(void)
{
	struct runq_opts runq = {.source = RUNQ_SOURCE_SCHED_INFO};
	struct setup setup;
	/*
	 * The waits of others are in both sums. But a wait that ends while the sums are read is in
	 * one of them only: a reader that comes late makes that likely, and a crowd of others makes
	 * each wait long.
	 */
	struct judge_opts ratio = {
		.cpu = WITNESS_ALL_CPUS,
		.limits = {.taken = 0.1, .waited = RATIO_BOUND / 3, .own_forks = UINT_MAX},
		.measure = measure_ratio,
		.arg = &runq};
	/* Both sources see the same waits, whichever task has the core. */
	struct judge_opts sleeps = {.limits = {.taken = INFINITY, .waited = 0.05},
				    .measure = measure_sleeps,
				    .arg = &setup};
	/* Others on the core make the pipe wait more often: half of the slack. */
	struct judge_opts sampled = {.limits = {.taken = 0.005, .waited = -1, .own_forks = 4},
				     .measure = measure_sample,
				     .arg = &setup};
	pid_t pids[5];
	int other;

	cgroups_open();
	if (!live_two_cpus(&setup.cpu, &other))
		live_skip_all("needs two CPUs");
	setup.cgroup = cgroups_make("sampled");
	for (int i = 0; i < 3; i++)
		pids[i] = start(burn_and_sleep);
	for (int i = 3; i < 5; i++)
		pids[i] = start(fork_many);
	live_first();
	judge(&ratio);
	runq.source = RUNQ_SOURCE_WAKEUP;
	judge(&ratio);
	for (int i = 0; i < 5; i++)
		load_kill(pids[i]);
	sleeps.cpu = sampled.cpu = setup.cpu;
	judge(&sleeps);
	judge(&sampled);
	return live_done();
}
