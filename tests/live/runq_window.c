/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of `subtick runq` and busy tasks, for live tests. */
#include "runq_window.h"

#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "present/present.h"

/*
 * Skips the test if the machine lacks a requirement. Fails the test if the kernel rejects a BPF
 * program of subtick.
 */
static void __attribute__((noreturn)) give_up(const struct err *err)
{
	if (err->unsupported)
		live_skip_all("%s", err->what);
	live_fail_all("%s", err->what);
}

struct meter *window_open(const struct runq_opts *opts)
{
	struct meter *meter;
	struct err err = {0};

	if (runq_open(opts, &meter, &err))
		give_up(&err);
	return meter;
}

void window_begin(struct meter *meter)
{
	struct err err = {0};

	if (meter->ops->start(meter, &err))
		give_up(&err);
}

void window_wait(struct meter *meter, unsigned int ms)
{
	uint64_t end = clock_mono_ns() + ms * NSEC_PER_MSEC, now;
	struct pollfd fd = {.fd = meter->ops->event_fd(meter), .events = POLLIN};
	struct err err = {0};

	while ((now = clock_mono_ns()) < end) {
		if (poll(&fd, 1, (int)((end - now) / NSEC_PER_MSEC) + 1) <= 0)
			continue;
		meter->ops->event(meter, &err);
	}
}

struct report *window_end(struct meter *meter, unsigned int ms)
{
	struct report *report = NULL;
	struct err err = {0};

	window_wait(meter, ms);
	if (meter->ops->read(meter, &err) || present_window("runq", meter, &report, &err))
		give_up(&err);
	return report;
}

double window_group(const struct report *report, const char *who, const char *key)
{
	const struct table *table = report_find(report, "groups");

	for (size_t row = 0; table && row < table->nr_rows; row++) {
		const struct value *name = table_cell(table, row, 0);

		if (name->kind == VALUE_STR && !strcmp(name->str, who))
			return table_number(table, row, key);
	}
	return NAN;
}

double window_quality(const struct report *report, const char *key)
{
	return table_number(report->quality, 0, key);
}

pid_t load_fork(const char *cgroup, int cpu)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !cgroups_enter(cgroup, 0))
		_exit(1);
	live_pin(cpu);
	return 0;
}

pid_t load_burner(const char *cgroup, int cpu)
{
	pid_t pid = load_fork(cgroup, cpu);

	while (!pid)
		__asm__ volatile("" ::: "memory");
	/* Wait until the child has entered its cgroup and runs on its core. */
	live_sleep_ms(100);
	return pid;
}

void load_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct load_stat load_schedstat(pid_t pid)
{
	struct live_schedstat stat;

	if (!live_schedstat(pid, &stat))
		return (struct load_stat){NAN, NAN, NAN};
	return (struct load_stat){(double)stat.ran_ns, (double)stat.waited_ns,
				  (double)stat.dispatches};
}

struct load_stat load_init_schedstat(void)
{
	DIR *tasks = opendir("/proc/1/task");
	struct load_stat sum = {0};
	struct dirent *entry;

	while (tasks && (entry = readdir(tasks))) {
		struct load_stat stat = load_schedstat(atoi(entry->d_name));

		/* Skip "." and "..", and threads that have exited. */
		if (!(stat.count > 0))
			continue;
		sum.ran_ns += stat.ran_ns;
		sum.waited_ns += stat.waited_ns;
		sum.count += stat.count;
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

bool load_init_ran(const struct load_stat *before)
{
	struct load_stat now = load_init_schedstat();

	return now.ran_ns != before->ran_ns || now.count != before->count;
}

static struct load_stat minus(struct load_stat a, struct load_stat b)
{
	return (struct load_stat){a.ran_ns - b.ran_ns, a.waited_ns - b.waited_ns,
				  a.count - b.count};
}

struct load_stat load_least(const struct load_schedstats *stats)
{
	return minus(stats->ending, stats->begun);
}

struct load_stat load_most(const struct load_schedstats *stats)
{
	return minus(stats->after, stats->before);
}
