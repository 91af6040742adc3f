/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the run time and the run delay of every task, and compares two such readings. */
#include "witness_tasks.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/file.h"
#include "host/procstat.h"

#define PF_KTHREAD 0x00200000u
/*
 * maximum length of a chain of parents; the limit ends loops if the chain changes during the read
 */
#define MOST_DEEP 64

/* Returns the number of migrations of a task, or 0 if the kernel does not report migrations. */
static uint64_t read_moves(const char *pid, const char *tid)
{
	char path[64], text[8192];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%.15s/task/%.15s/sched", pid, tid);
	if (sys_read_file(NULL, path, text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, "nr_migrations");
	at = at ? strchr(at, ':') : NULL;
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

static bool read_task(const char *pid, const char *tid, struct witness_task *task)
{
	char path[64], text[1024];
	struct pidstat stat;

	snprintf(path, sizeof(path), "/proc/%.15s/task/%.15s/stat", pid, tid);
	if (sys_read_file(NULL, path, text, sizeof(text)) < 0 || pidstat_parse(text, &stat) ||
	    stat.cpu < 0)
		return false;
	*task = (struct witness_task){
		.pid = atoi(pid),
		.tid = atoi(tid),
		.parent = stat.parent,
		.cpu = stat.cpu,
		.kernel = stat.flags & PF_KTHREAD,
		.moves = read_moves(pid, tid),
	};
	snprintf(path, sizeof(path), "/proc/%.15s/task/%.15s/schedstat", pid, tid);
	return sys_read_file(NULL, path, text, sizeof(text)) > 0 &&
	       sscanf(text, "%" SCNu64 " %" SCNu64, &task->run_ns, &task->wait_ns) == 2;
}

static void add_process(struct witness_tasks *list, const char *pid)
{
	struct witness_task task, *grown;
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !read_task(pid, entry->d_name, &task))
			continue;
		grown = realloc(list->tasks, (list->nr + 1) * sizeof(*grown));
		if (!grown)
			break;
		list->tasks = grown;
		list->tasks[list->nr++] = task;
	}
	closedir(dir);
}

static int by_number(const void *a, const void *b)
{
	const struct witness_task *x = a, *y = b;

	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid)
				: (x->tid > y->tid) - (x->tid < y->tid);
}

static const struct witness_task *find(const struct witness_tasks *list, int pid, int tid)
{
	struct witness_task key = {.pid = pid, .tid = tid};

	return list->nr ? bsearch(&key, list->tasks, list->nr, sizeof(key), by_number) : NULL;
}

/*
 * True if the task is a descendant of the test by its chain of parent PIDs. Process groups do not
 * identify descendants: a shell without job control puts all tasks into one group.
 */
static bool is_own(const struct witness_tasks *list, int pid)
{
	for (int i = 0; i < MOST_DEEP && pid > 1; i++) {
		const struct witness_task *leader;

		if (pid == getpid())
			return true;
		leader = find(list, pid, pid);
		pid = leader ? leader->parent : 0;
	}
	return false;
}

bool witness_tasks_read(struct witness_tasks *ret_tasks)
{
	struct dirent *entry;
	DIR *dir;

	*ret_tasks = (struct witness_tasks){0};
	if (access("/proc/self/schedstat", R_OK))
		return false;
	dir = opendir("/proc");
	if (!dir)
		return false;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			add_process(ret_tasks, entry->d_name);
	closedir(dir);
	qsort(ret_tasks->tasks, ret_tasks->nr, sizeof(*ret_tasks->tasks), by_number);
	for (size_t i = 0; i < ret_tasks->nr; i++)
		ret_tasks->tasks[i].own = is_own(ret_tasks, ret_tasks->tasks[i].pid);
	return true;
}

void witness_tasks_free(struct witness_tasks *tasks)
{
	free(tasks->tasks);
	*tasks = (struct witness_tasks){0};
}

void witness_tasks_between(const struct witness_tasks *first, const struct witness_tasks *last,
			   int cpu, struct witness_work *ret_work)
{
	struct witness_work work = {0};

	for (size_t i = 0; i < last->nr; i++) {
		const struct witness_task *now = &last->tasks[i];
		const struct witness_task *was = find(first, now->pid, now->tid);
		uint64_t ran = now->run_ns - (was ? was->run_ns : 0);
		uint64_t waited = now->wait_ns - (was ? was->wait_ns : 0);
		bool here = cpu < 0 || now->cpu == cpu || (was && was->cpu == cpu);

		/*
		 * A task that migrated may have run on the measured core between the two readings.
		 */
		if (!now->own && !now->kernel && now->moves != (was ? was->moves : 0))
			here = true;
		work.born += !was;
		/*
		 * If all cores are measured, only the wait time of the test's main process counts,
		 * because tasks of the test may wait for each other.
		 */
		if (now->own && (cpu < 0 ? now->pid == getpid() : !here))
			work.waited_ns += waited;
		if (now->own)
			work.own_ns += here ? ran : 0;
		else if (here && now->kernel)
			work.threads_ns += ran;
		else if (here)
			work.others_ns += ran;
	}
	for (size_t i = 0; i < first->nr; i++) {
		const struct witness_task *was = &first->tasks[i];

		if (!was->own && !was->kernel && (cpu < 0 || was->cpu == cpu) &&
		    !find(last, was->pid, was->tid))
			work.died++;
	}
	*ret_work = work;
}
