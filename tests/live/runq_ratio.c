/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On a mixed load: our sum against the kernel's books, and samples against the whole. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroups.h"
#include "live.h"
#include "runq_window.h"

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

static void burn_and_nap(void)
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

static bool ratio_fits(const struct runq_opts *opts, const char *name)
{
	struct meter *meter = window_open(opts);
	struct report *report;
	double ratio;

	window_begin(meter);
	/* The first window has tasks that exited before it. */
	report_free(window_end(meter, 300));
	report = window_end(meter, 2000);
	ratio = window_quality(report, "schedstat_ratio");
	live_note("%s: schedstat_ratio %.4f", name, ratio);
	report_free(report);
	meter->ops->close(meter);
	return ratio >= 0.98 && ratio <= 1.02;
}

/*
 * Naps on one core. Each wake-up has the core at once or preempts whoever has it, and of such waits
 * the kernel books next to nothing: it spares itself the update of its clock. Both sources, over the
 * same time, tell how long they were.
 */
static bool naps_fit(const char *cgroup, int cpu)
{
	struct runq_opts opts = {.hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1};
	struct meter *meters[2];
	double median[2], count[2];
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!cgroups_enter(cgroup, 0))
			_exit(1);
		live_pin(cpu);
		for (;;)
			usleep(2000);
	}
	for (int i = 0; i < 2; i++) {
		opts.source = i ? RUNQ_SOURCE_WAKEUP : RUNQ_SOURCE_SCHED_INFO;
		meters[i] = window_open(&opts);
	}
	for (int i = 0; i < 2; i++)
		window_begin(meters[i]);
	live_sleep_ms(2000);
	for (int i = 0; i < 2; i++) {
		struct report *report = window_end(meters[i], 0);

		median[i] = window_group(report, cgroup, "p50_ns");
		count[i] = window_group(report, cgroup, "count");
		report_free(report);
		meters[i]->ops->close(meters[i]);
	}
	load_kill(pid);
	live_note("naps: %.0f waits, median %.0f ns by sched_info; %.0f, %.0f ns by wakeup",
		  count[0], median[0], count[1], median[1]);
	return count[0] > 20 && fabs(count[0] / count[1] - 1.0) < 0.15 &&
	       median[0] > median[1] / 4 && median[0] < median[1] * 4;
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
static bool sample_fits(const char *cgroup, int cpu)
{
	struct sampled whole = sample(cgroup, cpu, 1.0), tenth = sample(cgroup, cpu, 0.1);
	double off = tenth.count / whole.count - 1.0;

	live_note(
		"every wait: %.0f, %.3f s of CPU; a tenth: %.0f ± %.2f %%, off by %.2f %%, %.3f s",
		whole.count, whole.cpu_s, tenth.count, tenth.stderr_ratio * 100, off * 100,
		tenth.cpu_s);
	/* Waits for other people's tasks come and go: a percent of slack. */
	return fabs(off) <= 4.0 * tenth.stderr_ratio + 0.01 &&
	       fabs(tenth.cpu_s / whole.cpu_s - 1.0) < live_bound(0.1);
}

int main(void)
{
	struct runq_opts opts = {.source = RUNQ_SOURCE_SCHED_INFO};
	pid_t pids[5];
	const char *cgroup;
	bool fits = false;
	int cpu, other;

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	cgroup = cgroups_make("sampled");
	for (int i = 0; i < 3; i++)
		pids[i] = start(burn_and_nap);
	for (int i = 3; i < 5; i++)
		pids[i] = start(fork_many);
	for (int i = 0; i < 4 && !fits; i++)
		fits = ratio_fits(&opts, "sched_info");
	live_ok(fits, "sched_info: the waits add up to the kernel's run delay within 2 %%");
	fits = false;
	opts.source = RUNQ_SOURCE_WAKEUP;
	for (int i = 0; i < 4 && !fits; i++)
		fits = ratio_fits(&opts, "wakeup");
	live_ok(fits, "wakeup: the waits add up to the kernel's run delay within 2 %%");
	for (int i = 0; i < 5; i++)
		load_kill(pids[i]);
	fits = false;
	for (int i = 0; i < 4 && !fits; i++)
		fits = naps_fit(cgroup, cpu);
	live_ok(fits, "sched_info: waits that end by preempting are there, as long as by wakeup");
	fits = false;
	for (int i = 0; i < 4 && !fits; i++)
		fits = sample_fits(cgroup, cpu);
	live_ok(fits, "a sample of a tenth tells the same and leaves the load's CPU time as it is");
	return live_done();
}
