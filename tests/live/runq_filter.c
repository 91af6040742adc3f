/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks that a cgroup filter applies to the woken task, not to the waker. tests/truth/runq judges
 * wait times.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroups.h"
#include "judge.h"
#include "live.h"
#include "report/report.h"
#include "runq_window.h"

#define WAKES 1000

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
	int cpu, other;

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	opts.hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1;
	live_pin(other);
	filter(opts, cgroups_make("asked"), cgroups_make("beside"), cpu);
	return live_done();
}
