/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds up what tasks of other programs ran, from /proc. */
#include "others.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define PF_KTHREAD 0x00200000u

/* False for our own, for the kernel's, and for one that has just ended. */
static bool is_foreign(const char *pid, const char *tid, int *ret_cpu)
{
	char path[64], text[1024], *rest;
	unsigned int flags;
	int group, cpu;
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.15s/task/%.15s/stat", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	/* The name may hold anything, parentheses too; nothing after it does. */
	rest = strrchr(text, ')');
	/* State, parent, group, session, terminal, its group, flags; 29 more; processor. */
	if (!rest || sscanf(rest + 1, " %*c %*d %d %*d %*d %*d %u", &group, &flags) != 2)
		return false;
	rest++;
	for (int field = 3; rest && field <= 39; field++) {
		rest = strchr(rest + (field > 3), ' ');
		if (rest && field == 39 && sscanf(rest, " %d", &cpu) == 1)
			*ret_cpu = cpu;
	}
	return rest && !(flags & PF_KTHREAD) && group != getpgrp();
}

static bool read_run(const char *pid, const char *tid, uint64_t *ret_ns)
{
	unsigned long long ns;
	char path[64];
	bool good;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.15s/task/%.15s/schedstat", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	good = fscanf(file, "%llu", &ns) == 1;
	fclose(file);
	*ret_ns = ns;
	return good;
}

static void add_task(struct others *others, const char *pid, const char *tid)
{
	struct others_task task = {.tid = atoi(tid)}, *grown;

	if (!is_foreign(pid, tid, &task.cpu) || !read_run(pid, tid, &task.run_ns))
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

double others_share(const struct others *first, const struct others *last, int cpu)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < last->nr; i++)
		if (last->tasks[i].cpu == cpu)
			ns += last->tasks[i].run_ns - run_before(first, last->tasks[i].tid);
	if (last->at_ns <= first->at_ns)
		return 0.0;
	/* A task that came from another core brings what it ran there. */
	return fmin(1.0, (double)ns / (double)(last->at_ns - first->at_ns));
}
