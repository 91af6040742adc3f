/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the tasks with the most CPU time, and reads their policy, affinity and cgroup. */
#include "measure/overview/suspects.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/sched/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/cpu.h"
#include "host/file.h"
#include "host/mountinfo.h"
#include "host/procstat.h"

#define PF_KTHREAD 0x00200000
/* Maximum number of threads whose state is read. More reads would disturb the measurement. */
#define THREADS_MAX 4096

/* A task that ran in the window. */
struct ran {
	struct load_task task;
	uint32_t started_by; /* see struct suspect */
	bool exited;
	/* the task has exited, or a task with the same name and parent has exited */
	bool short_lived;
};

/* Maximum number of short-lived ancestors to skip; enough for processes of a build or a script. */
#define GENERATIONS_MAX 8

static int by_pid(const void *a, const void *b)
{
	const struct ran *left = a, *right = b;

	return CMP(left->task.pid, right->task.pid) ?: CMP(right->task.ns, left->task.ns);
}

static int same_pid(const void *a, const void *b)
{
	return CMP(((const struct ran *)a)->task.pid, ((const struct ran *)b)->task.pid);
}

static int by_time(const void *a, const void *b)
{
	return CMP(((const struct ran *)b)->task.ns, ((const struct ran *)a)->task.ns);
}

/*
 * Merges the rows of a task that ran on several CPUs. The merged row has the CPU on which the task
 * ran longest. Returns the number of merged rows, which are sorted by PID.
 */
static size_t merge(const struct load_task *tasks, size_t nr, struct ran *ran,
		    struct suspects *list)
{
	size_t rows = 0, left = 0;

	for (size_t i = 0; i < nr; i++) {
		/* the row with PID UINT32_MAX is the time of all tasks that have no row */
		if (tasks[i].pid == UINT32_MAX)
			continue;
		if (tasks[i].tgid == (uint32_t)getpid()) {
			list->own_ns += tasks[i].ns;
			list->own_cgroup_id = tasks[i].cgroup_id;
			continue;
		}
		ran[rows] = (struct ran){.task = tasks[i]};
		/* A thread was started by its process, not by the parent of its process. */
		if (tasks[i].pid != tasks[i].tgid)
			ran[rows].task.parent = tasks[i].tgid;
		rows++;
	}
	qsort(ran, rows, sizeof(*ran), by_pid);
	for (size_t i = 0; i < rows; i++) {
		if (left && ran[left - 1].task.pid == ran[i].task.pid) {
			ran[left - 1].task.ns += ran[i].task.ns;
			ran[left - 1].task.sleeps += ran[i].task.sleeps;
		} else {
			ran[left++] = ran[i];
		}
	}
	return left;
}

static bool find_short_lived(const struct ran *ran, size_t nr, const struct ran *one)
{
	if (one->exited)
		return true;
	array_for_each(other, ran, nr)
		if (other->exited && other->task.parent == one->task.parent &&
		    !strcmp(other->task.comm, one->task.comm))
			return true;
	return false;
}

/*
 * Returns the process id of the nearest ancestor of @one that is not short-lived. For a compiler,
 * this is the build tool, and not the shell that started the compiler.
 */
static uint32_t find_started_by(const struct ran *ran, size_t nr, const struct ran *one)
{
	struct ran parent = {.task.pid = one->task.parent};

	for (int i = 0; i < GENERATIONS_MAX; i++) {
		const struct ran *found = bsearch(&parent, ran, nr, sizeof(*ran), same_pid);

		if (!found || !found->short_lived)
			break;
		parent.task.pid = found->task.parent;
	}
	return parent.task.pid;
}

void suspect_cgroup(const char *text, const char *controller, char ret_path[SUSPECT_PATH])
{
	ret_path[0] = '\0';
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		char names[256];
		int at = 0;

		line += *line == '\n';
		/* /proc/PID/cgroup has lines "0::/path" for v2, "4:cpu,cpuacct:/path" for v1 */
		names[0] = '\0';
		if (sscanf(line, "%*u:%255[^:\n]:%n", names, &at) < 1)
			sscanf(line, "0::%n", &at);
		if (at && (controller ? mount_has_option(names, controller) : !names[0]))
			snprintf(ret_path, SUSPECT_PATH, "%.*s", (int)strcspn(line + at, "\n"),
				 line + at);
	}
}

static void read_policy(struct suspect *s)
{
	struct sched_attr attr = {0};

	if (syscall(SYS_sched_getattr, (pid_t)s->pid, &attr, sizeof(attr), 0))
		return;
	s->policy = (int)attr.sched_policy;
	s->priority = (int)attr.sched_priority;
	s->nice = attr.sched_nice;
}

/*
 * Reads the autogroup of a task. The kernel uses autogroups only if the sysctl
 * sched_autogroup_enabled is 1, and only for tasks in the root cgroup.
 */
static void read_autogroup(const char *root, struct suspect *s)
{
	char text[64];

	if (s->kthread || strcmp(s->cgroup, "/") ||
	    sys_read_file(root, "/proc/sys/kernel/sched_autogroup_enabled", text, sizeof(text)) <
		    0 ||
	    text[0] != '1')
		return;
	if (sys_read_file(root, SYS_PATH("/proc/%u/autogroup", s->pid), text, sizeof(text)) < 0 ||
	    sscanf(text, "/autogroup-%" SCNu32, &s->autogroup) < 1)
		s->autogroup = 0;
}

/* Reads the state of a task. Returns false if the task has exited, or now runs another program. */
static bool read_task(const char *root, bool v1, struct suspect *s)
{
	char text[4096];
	struct pidstat stat;

	if (sys_read_file(root, SYS_PATH("/proc/%u/comm", s->pid), text, sizeof(text)) < 0 ||
	    strncmp(text, s->name, strlen(s->name)))
		return false;
	snprintf(s->name, sizeof(s->name), "%.63s", text);
	if (sys_read_file(root, SYS_PATH("/proc/%u/stat", s->pid), text, sizeof(text)) > 0 &&
	    !pidstat_parse(text, &stat))
		s->kthread = stat.flags & PF_KTHREAD;
	if (sys_read_file(root, SYS_PATH("/proc/%u/cgroup", s->pid), text, sizeof(text)) > 0) {
		suspect_cgroup(text, v1 ? "cpu" : NULL, s->cgroup);
		suspect_cgroup(text, v1 ? "cpuset" : NULL, s->cpuset);
	}
	read_policy(s);
	read_autogroup(root, s);
	if (affinity_get((pid_t)s->pid, &s->allowed))
		s->allowed = (struct cpuset){0};
	return true;
}

static struct suspect *exited(struct suspects *list, const struct suspect *one)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!list->list[i].pid && !strcmp(list->list[i].name, one->name) &&
		    list->list[i].cgroup_id == one->cgroup_id)
			return &list->list[i];
	if (list->nr == SUSPECTS_MAX)
		return NULL;
	list->list[list->nr] = (struct suspect){.cpu = UINT32_MAX, .cgroup_id = one->cgroup_id};
	memcpy(list->list[list->nr].name, one->name, SUSPECT_NAME);
	return &list->list[list->nr++];
}

static int suspect_by_time(const void *a, const void *b)
{
	return CMP(((const struct suspect *)b)->ns, ((const struct suspect *)a)->ns);
}

int suspects_read(const char *root, const struct load_task *tasks, size_t nr, bool v1,
		  struct suspects *ret_suspects)
{
	struct ran *ran = malloc((nr + 1) * sizeof(*ran));
	size_t live = 0;

	ret_suspects->nr = 0;
	ret_suspects->own_ns = ret_suspects->own_cgroup_id = 0;
	if (!ran)
		return -ENOMEM;
	nr = merge(tasks, nr, ran, ret_suspects);
	array_for_each(one, ran, nr)
		one->exited = !sys_exists(root, SYS_PATH("/proc/%u", one->task.pid));
	array_for_each(one, ran, nr)
		one->short_lived = find_short_lived(ran, nr, one);
	array_for_each(one, ran, nr)
		one->started_by = find_started_by(ran, nr, one);
	qsort(ran, nr, sizeof(*ran), by_time);
	for (size_t i = 0; i < nr; i++) {
		const struct load_task *task = &ran[i].task;
		struct suspect one = {.pid = task->pid,
				      .tgid = task->tgid,
				      .ns = task->ns,
				      .count = 1,
				      .sleeps = task->sleeps,
				      .started_by = ran[i].started_by,
				      .cpu = task->cpu,
				      .cgroup_id = task->cgroup_id},
			       *gone;

		snprintf(one.name, sizeof(one.name), "%.15s", task->comm);
		if (!ran[i].exited && live < SUSPECTS_LIVE && ret_suspects->nr < SUSPECTS_MAX &&
		    read_task(root, v1, &one)) {
			ret_suspects->list[ret_suspects->nr++] = one;
			live++;
			continue;
		}
		/*
		 * Skip live tasks after SUSPECTS_LIVE tasks, because each further task used little
		 * CPU time. Keep exited tasks, because the sum of their CPU times may be large.
		 */
		if (live == SUSPECTS_LIVE && !ran[i].exited)
			continue;
		gone = exited(ret_suspects, &one);
		if (gone) {
			gone->ns += one.ns;
			gone->sleeps += one.sleeps;
			/* PID 1 is also the parent of processes whose parent exited before them. */
			if (!gone->count++ || gone->started_by == 1)
				gone->started_by = one.started_by;
			else if (one.started_by != 1 && gone->started_by != one.started_by)
				gone->started_by = UINT32_MAX;
		}
	}
	qsort(ret_suspects->list, ret_suspects->nr, sizeof(ret_suspects->list[0]), suspect_by_time);
	free(ran);
	return 0;
}

/* Adds thread @pid of @process if the thread is runnable. */
static void add_runnable(const char *root, uint32_t process, uint32_t pid, struct runnable *list)
{
	struct pidstat stat;
	const char *state;
	uint64_t waited_ns;
	char text[1024];

	if (list->nr == RUNNABLE_MAX ||
	    sys_read_file(root, SYS_PATH("/proc/%u/task/%u/stat", process, pid), text,
			  sizeof(text)) < 0)
		return;
	/* the task name in /proc/PID/stat is in parentheses and may contain any character */
	state = strrchr(text, ')');
	if (!state || strncmp(state, ") R", 3) || pidstat_parse(text, &stat) ||
	    stat.flags & PF_KTHREAD)
		return;
	/* "RUN_TIME WAIT_TIME SLICES" */
	if (sys_read_file(root, SYS_PATH("/proc/%u/task/%u/schedstat", process, pid), text,
			  sizeof(text)) < 0 ||
	    sscanf(text, "%*u %" SCNu64, &waited_ns) < 1)
		return;
	list->waited_ns[list->nr] = waited_ns;
	list->pids[list->nr++] = pid;
}

void runnable_read(const char *root, struct runnable *ret_list)
{
	unsigned int runnable = 0, budget = THREADS_MAX;
	struct dirent *process, *thread;
	char path[512], text[128];
	DIR *proc, *threads;

	ret_list->nr = 0;
	/* /proc/loadavg is "0.00 0.01 0.05 2/123 4567", with 2 runnable tasks */
	if (sys_read_file(root, "/proc/loadavg", text, sizeof(text)) < 0 ||
	    sscanf(text, "%*s %*s %*s %u", &runnable) < 1 || runnable < 3)
		return;
	proc = sys_path(root, "/proc", path, sizeof(path)) ? NULL : opendir(path);
	while (proc && budget && (process = readdir(proc))) {
		uint32_t tgid = (uint32_t)strtoul(process->d_name, NULL, 10);

		snprintf(text, sizeof(text), "/proc/%u/task", tgid);
		if (!tgid || tgid == (uint32_t)getpid() || sys_path(root, text, path, sizeof(path)))
			continue;
		threads = opendir(path);
		while (threads && budget && (thread = readdir(threads)))
			if (thread->d_name[0] != '.') {
				add_runnable(root, tgid,
					     (uint32_t)strtoul(thread->d_name, NULL, 10), ret_list);
				budget--;
			}
		if (threads)
			closedir(threads);
	}
	if (proc)
		closedir(proc);
}

/*
 * Returns an upper bound of the CPU time in ns of the task @pid in the window. The bound includes
 * rows with PID UINT32_MAX, because the CPU time in these rows may belong to any task.
 */
static uint64_t run_time(const struct load_task *tasks, size_t nr, uint32_t pid)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < nr; i++)
		ns += tasks[i].pid == pid || tasks[i].pid == UINT32_MAX ? tasks[i].ns : 0;
	return ns;
}

static void mark_starved(const char *root, uint32_t pid, bool v1, struct suspects *list)
{
	struct suspect one = {.pid = pid, .tgid = pid, .count = 1, .starved = true};
	struct pidstat stat;

	for (size_t i = 0; i < list->nr; i++)
		if (list->list[i].pid == pid) {
			list->list[i].starved = true;
			return;
		}
	if (list->nr == SUSPECTS_MAX || pidstat_read(root, (pid_t)pid, &stat) ||
	    !read_task(root, v1, &one))
		return;
	one.cpu = (uint32_t)stat.cpu;
	list->list[list->nr++] = one;
}

void suspects_add_starved(const char *root, const struct runnable *before,
			  const struct runnable *after, const struct load_task *tasks, size_t nr,
			  uint64_t window_ns, unsigned int cpus, bool v1, struct suspects *suspects)
{
	/* fair share: the CPU time divided by the number of runnable tasks */
	double fair = (double)cpus / (double)(after->nr ?: 1),
	       limit = (fair / 4.0 < STARVED ? fair / 4.0 : STARVED) * (double)window_ns;

	for (size_t i = 0; i < before->nr; i++) {
		uint64_t ns = run_time(tasks, nr, before->pids[i]);

		for (size_t j = 0; j < after->nr && (double)ns < limit; j++) {
			uint64_t ended_ns = after->waited_ns[j] - before->waited_ns[i];

			if (after->pids[j] == before->pids[i] &&
			    (!ended_ns || ended_ns > window_ns / 2))
				mark_starved(root, before->pids[i], v1, suspects);
		}
	}
}

const struct suspect *suspects_busiest(const struct suspects *suspects, uint32_t cpu)
{
	for_each_suspect(s, suspects)
		if (s->pid && !s->kthread && s->cpu == cpu && s->ns)
			return s;
	return NULL;
}
