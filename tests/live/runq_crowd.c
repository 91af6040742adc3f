/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks wait times on one core, where N - 1 of N runnable tasks wait. Checks that a cgroup filter
 * applies to the woken task, not to the waker.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "judge.h"
#include "live.h"
#include "report/report.h"
#include "runq_window.h"

#define CROWD	 6
#define CROWD_MS 600
#define WAKES	 1000

/* Ends a window. Adds the wait time of cgroup @who to @sum_ns and updates @max_ns. */
static void add_window(struct meter *meter, unsigned int ms, const char *who, double *sum_ns,
		       double *max_ns, double *negative)
{
	struct report *report = window_end(meter, ms);
	double sum = window_group(report, who, "sum_ns");

	if (!isnan(sum)) {
		*sum_ns += sum;
		*max_ns = fmax(*max_ns, window_group(report, who, "max_ns"));
	}
	*negative = window_quality(report, "negative_total");
	report_free(report);
}

/* Forks a task. The task enters its cgroup, writes a byte to the pipe, and keeps its core busy. */
static pid_t burner(const char *cgroup, int cpu, int ready)
{
	pid_t pid = load_fork(cgroup, cpu);

	if (pid)
		return pid;
	if (write(ready, "", 1) != 1)
		_exit(1);
	while (true)
		__asm__ volatile("" ::: "memory");
}

struct crowd {
	struct runq_opts opts;
	const char *cgroup;
	int cpu;
};

/*
 * While the tasks share the core, one task runs and all other tasks wait. After all tasks have
 * exited, the sum of the reported wait times contains every wait.
 */
static void measure_crowd(void *arg, struct verdict *verdict)
{
	const struct crowd *crowd = arg;
	uint64_t first_ns, all_ns, kill_ns, dead_ns;
	double sum_ns = 0, max_ns = 0, negative = 0, least, most;
	struct load_stat init = load_init_schedstat();
	struct meter *meter = window_open(&crowd->opts);
	pid_t pid[CROWD];
	int ready[2];
	char byte;

	if (pipe(ready))
		live_fail_all("no pipe");
	window_begin(meter);
	first_ns = clock_mono_ns();
	for (int i = 0; i < CROWD; i++)
		pid[i] = burner(crowd->cgroup, crowd->cpu, ready[1]);
	for (int i = 0; i < CROWD; i++)
		if (read(ready[0], &byte, 1) != 1)
			live_fail_all("a task of the crowd died");
	all_ns = clock_mono_ns();
	for (int i = 0; i < 3; i++)
		add_window(meter, CROWD_MS / 3, crowd->cgroup, &sum_ns, &max_ns, &negative);
	kill_ns = clock_mono_ns();
	for (int i = 0; i < CROWD; i++)
		load_kill(pid[i]);
	dead_ns = clock_mono_ns();
	add_window(meter, 0, crowd->cgroup, &sum_ns, &max_ns, &negative);
	meter->ops->close(meter);
	close(ready[0]);
	close(ready[1]);
	least = (CROWD - 1) * (double)(kill_ns - all_ns);
	most = CROWD * (double)(dead_ns - first_ns);
	verdict_count(verdict, sum_ns >= least && sum_ns <= most,
		      "%d tasks on one core waited %.1f ms, between %.1f and %.1f", CROWD,
		      sum_ns / 1e6, least / 1e6, most / 1e6);
	verdict_always(verdict, max_ns <= (double)(dead_ns - first_ns),
		       "no wait is longer than they lived: %.1f ms", max_ns / 1e6);
	verdict_always(verdict, negative == 0.0, "no wait ends before it begins");
	if (load_init_ran(&init))
		verdict_disturbed(verdict, LOAD_INIT_RAN);
}

/* Copies each byte from pipe @from to pipe @to until the writing end of pipe @from is closed. */
static void __attribute__((noreturn)) echo(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			break;
	_exit(0);
}

/*
 * Counts rows of cgroups outside the filter. Wake-ups must not create rows of cgroups outside the
 * filter.
 */
static size_t rows_beside(const struct report *report, const char *who)
{
	const struct table *table = report_find(report, "groups");
	size_t beside = 0;

	for (size_t row = 0; row < table->nr_rows; row++)
		beside += strcmp(table_cell(table, row, 0)->str, who) != 0;
	return beside;
}

/*
 * Reads bytes from pipe @start. For each byte, the task wakes the echo task live_times(WAKES) times
 * and writes a byte to pipe @done.
 */
static void __attribute__((noreturn)) wake_often(int start, int done, int there, int back)
{
	char byte;

	while (read(start, &byte, 1) == 1) {
		for (int i = 0; i < live_times(WAKES); i++)
			if (write(there, &byte, 1) != 1 || read(back, &byte, 1) != 1)
				_exit(1);
		if (write(done, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void round_trip(int start, int done)
{
	char byte = 0;

	if (write(start, &byte, 1) != 1 || read(done, &byte, 1) != 1)
		live_fail_all("the task that wakes died");
}

enum {
	START,
	DONE,
	THERE,
	BACK,
	NR_PIPES
};

struct filter {
	struct meter *meter;
	const char *asked;
	int pipes[NR_PIPES][2];
	pid_t woken;
};

static void measure_filter(void *arg, struct verdict *verdict)
{
	const struct filter *f = arg;
	struct load_stat init = load_init_schedstat();
	struct load_schedstats stats;
	struct report *report;
	double count;

	/*
	 * The cgroup filter excludes the waker's cgroup. subtick applies its cgroup filter to a new
	 * cgroup at the end of the window in which the cgroup first waits.
	 */
	round_trip(f->pipes[START][1], f->pipes[DONE][0]);
	report_free(window_end(f->meter, 0));
	stats.before = load_schedstat(f->woken);
	report_free(window_end(f->meter, 50));
	stats.begun = load_schedstat(f->woken);
	round_trip(f->pipes[START][1], f->pipes[DONE][0]);
	stats.ending = load_schedstat(f->woken);
	report = window_end(f->meter, 0);
	stats.after = load_schedstat(f->woken);
	count = window_group(report, f->asked, "count");
	verdict_count(verdict,
		      count >= load_least(&stats).count && count <= load_most(&stats).count,
		      "who was asked for got the core %.0f times, by the kernel %.0f to %.0f",
		      count, load_least(&stats).count, load_most(&stats).count);
	verdict_always(verdict, count >= live_times(WAKES) / 2, "it was woken often");
	verdict_always(verdict, rows_beside(report, f->asked) == 0, "who woke it is not shown");
	report_free(report);
	if (load_init_ran(&init))
		verdict_disturbed(verdict, LOAD_INIT_RAN);
}

/*
 * A task inside the filter and a task outside the filter wake each other. No other task wakes the
 * task inside the filter.
 */
static void filter(struct runq_opts opts, const char *asked, const char *other, int cpu)
{
	const char *cgroups[] = {asked};
	struct filter f = {.asked = asked};
	pid_t waker;

	for (int i = 0; i < NR_PIPES; i++)
		if (pipe(f.pipes[i]))
			live_fail_all("no pipe");
	f.woken = load_fork(asked, cpu);
	if (!f.woken)
		echo(f.pipes[THERE][0], f.pipes[BACK][1]);
	waker = load_fork(other, cpu);
	if (!waker)
		wake_often(f.pipes[START][0], f.pipes[DONE][1], f.pipes[THERE][1],
			   f.pipes[BACK][0]);
	opts.cgroups = cgroups;
	opts.nr_cgroups = 1;
	f.meter = window_open(&opts);
	window_begin(f.meter);
	judge(measure_filter, &f);
	f.meter->ops->close(f.meter);
	load_kill(waker);
	load_kill(f.woken);
}

int main(void)
{
	struct runq_opts opts = {.blame = false};
	struct crowd crowd;
	int cpu, other;

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	opts.hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1;
	live_pin(other);
	crowd = (struct crowd){.opts = opts, .cpu = cpu};
	crowd.cgroup = cgroups_make("crowd");
	judge(measure_crowd, &crowd);
	crowd.cgroup = cgroups_make("blamed");
	crowd.opts.causes = crowd.opts.blame = true;
	judge(measure_crowd, &crowd);
	crowd.opts.source = RUNQ_SOURCE_WAKEUP;
	judge(measure_crowd, &crowd);
	filter(opts, cgroups_make("asked"), cgroups_make("beside"), cpu);
	return live_done();
}
