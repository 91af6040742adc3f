/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds up what tasks of other programs ran, from /proc. */
#include "others.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/file.h"
#include "sys/pidstat.h"

#define PF_KTHREAD 0x00200000u

/* False for our own, and for one that has just ended. */
static bool read_foreign(const char *pid, struct others_task *task)
{
	char path[64], text[1024];
	struct pidstat stat;

	snprintf(path, sizeof(path), "/proc/%.15s/task/%d/stat", pid, task->tid);
	if (sys_read_file(NULL, path, text, sizeof(text)) < 0 || pidstat_parse(text, &stat) ||
	    stat.cpu < 0 || stat.group == getpgrp())
		return false;
	task->kernel = stat.flags & PF_KTHREAD;
	task->cpu = stat.cpu;
	snprintf(path, sizeof(path), "/proc/%.15s/task/%d/schedstat", pid, task->tid);
	return sys_read_file(NULL, path, text, sizeof(text)) > 0 &&
	       sscanf(text, "%" SCNu64, &task->run_ns) == 1;
}

static void add_task(struct others *others, const char *pid, const char *tid)
{
	struct others_task task = {.tid = atoi(tid)}, *grown;

	if (!read_foreign(pid, &task))
		return;
	grown = realloc(others->tasks, (others->nr + 1) * sizeof(*grown));
	if (!grown)
		return;
	others->tasks = grown;
	others->tasks[others->nr++] = task;
}

static void add_process(struct others *others, const char *pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			add_task(others, pid, entry->d_name);
	closedir(dir);
}

bool others_read(struct others *others)
{
	struct dirent *entry;
	DIR *dir;

	*others = (struct others){0};
	if (access("/proc/self/schedstat", R_OK))
		return false;
	dir = opendir("/proc");
	if (!dir)
		return false;
	others->at_ns = clock_mono_ns();
	while ((entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			add_process(others, entry->d_name);
	closedir(dir);
	return true;
}

void others_free(struct others *others)
{
	free(others->tasks);
	*others = (struct others){0};
}

static uint64_t run_before(const struct others *first, int tid)
{
	for (size_t i = 0; i < first->nr; i++)
		if (first->tasks[i].tid == tid)
			return first->tasks[i].run_ns;
	return 0;
}

static double share_of(const struct others *first, const struct others *last, int cpu, bool kernel)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < last->nr; i++)
		if (last->tasks[i].cpu == cpu && last->tasks[i].kernel == kernel)
			ns += last->tasks[i].run_ns - run_before(first, last->tasks[i].tid);
	if (last->at_ns <= first->at_ns)
		return 0.0;
	/* A task that came from another core brings what it ran there. */
	return fmin(1.0, (double)ns / (double)(last->at_ns - first->at_ns));
}

double others_share(const struct others *first, const struct others *last, int cpu)
{
	return share_of(first, last, cpu, false);
}

double others_kernel_share(const struct others *first, const struct others *last, int cpu)
{
	return share_of(first, last, cpu, true);
}
