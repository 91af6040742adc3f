/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the task times of a window, and adds the time of tasks that are still running. */
#include "measure/load/tasks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/array.h"

#define SEE(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)

struct load_tasks_cpu {
	/* process id << 32 | thread id of the running task at the end of the window */
	uint64_t ids;
	char comm[16];
	/*
	 * Task time of the CPU since the start, and the part of the task time that was not counted
	 * because the map was full, at the end of this window and of the previous window (was_).
	 */
	uint64_t task_ns, was_ns;
	uint64_t lost_ns, was_lost_ns;
	bool known, was_known;
	/*
	 * reported run time of the running task; the next context switch adds this time to the map
	 */
	uint64_t carry_ns;
	uint32_t carry_pid;
	size_t own; /* index of the running task in load_tasks.list, or SIZE_MAX */
	uint64_t booked_ns;
	uint64_t excess_ns; /* time in the map above the task time of the window */
};

void load_tasks_open(struct load_tasks *tasks, struct blocks *memory, int even_fd, int odd_fd,
		     const struct load_task_now *now, unsigned int nr_cpus)
{
	*tasks = (struct load_tasks){.fds = {even_fd, odd_fd}, .nr_cpus = nr_cpus, .now = now};
	tasks->keys = blocks_calloc(memory, LOAD_TASKS_MAX, sizeof(*tasks->keys));
	tasks->sums = blocks_calloc(memory, LOAD_TASKS_MAX, sizeof(*tasks->sums));
	tasks->cpu = blocks_calloc(memory, nr_cpus, sizeof(*tasks->cpu));
	/*
	 * each CPU can have two rows without a map entry: one for its running task, and one without
	 * a task name
	 */
	tasks->list = blocks_calloc(memory, LOAD_TASKS_MAX + 2 * nr_cpus, sizeof(*tasks->list));
	/* at the start the task time of each CPU is 0 */
	for (unsigned int i = 0; tasks->cpu && i < nr_cpus; i++)
		tasks->cpu[i].known = true;
}

void load_tasks_note(struct load_tasks *tasks)
{
	for (unsigned int i = 0; i < tasks->nr_cpus; i++) {
		const struct load_task_now *now = &tasks->now[i];
		struct load_tasks_cpu *cpu = &tasks->cpu[i];

		/*
		 * A context switch during the read may mix two task names. The PID in `ids` is
		 * always consistent.
		 */
		cpu->ids = SEE(now->ids);
		memcpy(cpu->comm, now->comm, sizeof(cpu->comm));
		cpu->was_lost_ns = cpu->lost_ns;
		cpu->lost_ns = SEE(now->lost_ns);
	}
}

void load_tasks_sample(struct load_tasks *tasks, unsigned int i, const struct load_sample *sample)
{
	struct load_tasks_cpu *cpu = &tasks->cpu[i];

	cpu->was_known = cpu->known;
	cpu->was_ns = cpu->task_ns;
	cpu->known = !(sample->flags & LOAD_VOID);
	cpu->task_ns = sample->part_ns[LOAD_PART_TASK] + sample->part_ns[LOAD_PART_KSOFTIRQD];
}

static int by_core(const void *a, const void *b)
{
	const struct load_task *left = a, *right = b;

	return CMP(left->cpu, right->cpu) ?:
	       CMP(right->ns, left->ns) ?:
	       CMP(left->pid, right->pid);
}

static int empty_map(struct load_tasks *tasks, int fd, uint32_t *ret_nr)
{
	uint32_t nr = LOAD_TASKS_MAX, batch;
	int rc = bpf_map_lookup_and_delete_batch(fd, NULL, &batch, tasks->keys, tasks->sums, &nr,
						 NULL);

	/* ENOENT marks the end of the map */
	if (rc && errno != ENOENT)
		return -errno;
	*ret_nr = nr;
	return 0;
}

static void book(struct load_tasks *tasks, const struct load_task_key *key,
		 const struct load_task_sum *sum)
{
	struct load_tasks_cpu *cpu;
	struct load_task *task;

	if (key->cpu >= tasks->nr_cpus)
		return;
	cpu = &tasks->cpu[key->cpu];
	task = &tasks->list[tasks->nr_list];
	*task = (struct load_task){
		.cpu = key->cpu, .pid = key->pid, .tgid = sum->tgid, .ns = sum->ns,
		.count = sum->count, .sleeps = sum->sleeps, .cgroup_id = sum->cgroup,
		.parent = sum->parent,
	};
	memcpy(task->comm, sum->comm, sizeof(sum->comm));
	cpu->booked_ns += task->ns;
	/* subtract the run time of the task that earlier windows have reported */
	if (cpu->carry_ns && cpu->carry_pid == key->pid) {
		uint64_t again = cpu->carry_ns < task->ns ? cpu->carry_ns : task->ns;

		task->ns -= again;
		cpu->booked_ns -= again;
		cpu->carry_ns = 0;
	}
	if ((uint32_t)cpu->ids == key->pid)
		cpu->own = tasks->nr_list;
	tasks->nr_list++;
}

static void add_nameless(struct load_tasks *tasks, unsigned int cpu, uint64_t ns, const char *what)
{
	struct load_task *task = &tasks->list[tasks->nr_list++];

	*task = (struct load_task){.cpu = cpu, .pid = UINT32_MAX, .tgid = UINT32_MAX, .ns = ns};
	snprintf(task->comm, sizeof(task->comm), "%s", what);
}

/*
 * Adds the run time of the running task since its dispatch: the task time of the CPU minus the
 * times in the map. At the next context switch the BPF programs add the whole run time to the map,
 * and book() subtracts carry_ns again.
 */
static void add_running_tasks(struct load_tasks *tasks, unsigned int i)
{
	struct load_tasks_cpu *cpu = &tasks->cpu[i];
	uint64_t all = cpu->task_ns - cpu->was_ns;
	uint64_t booked = cpu->booked_ns + (cpu->lost_ns - cpu->was_lost_ns);
	uint64_t open = all > booked ? all - booked : 0;
	struct load_task *task;

	cpu->excess_ns = booked > all ? booked - all : 0;
	if (!open)
		return;
	/*
	 * If `ids` is 0, the CPU was idle at the end of the window. If a task ran between the end
	 * of the window and the sample, its run time is in the map of the next window.
	 */
	if (!cpu->ids) {
		add_nameless(tasks, i, open, "(at the end)");
		return;
	}
	if (cpu->own == SIZE_MAX) {
		cpu->own = tasks->nr_list++;
		task = &tasks->list[cpu->own];
		*task = (struct load_task){
			.cpu = i, .pid = (uint32_t)cpu->ids, .tgid = cpu->ids >> 32};
		memcpy(task->comm, cpu->comm, sizeof(cpu->comm));
	}
	tasks->list[cpu->own].ns += open;
	/*
	 * keep the run time that earlier windows reported if the task was running at the previous
	 * sample
	 */
	cpu->carry_ns = (cpu->carry_pid == (uint32_t)cpu->ids ? cpu->carry_ns : 0) + open;
	cpu->carry_pid = cpu->ids;
}

/*
 * Subtracts the run time that the previous window has already reported. If a task runs in the
 * microseconds between the end of a window and the sample of its CPU, the sample counts the run
 * time in the ended window, but the map in the next window. The task is unknown, so the run time is
 * subtracted from the tasks of the CPU with the most time.
 */
static bool subtract_reported(struct load_tasks *tasks)
{
	bool taken = false;

	array_for_each(task, tasks->list, tasks->nr_list) {
		uint64_t *excess = &tasks->cpu[task->cpu].excess_ns;
		uint64_t off = *excess < task->ns ? *excess : task->ns;

		task->ns -= off;
		*excess -= off;
		taken |= off;
	}
	return taken;
}

int load_tasks_read(struct load_tasks *tasks, uint64_t window_seq)
{
	uint32_t nr = 0;
	int rc = empty_map(tasks, tasks->fds[window_seq & 1], &nr);

	tasks->nr_list = 0;
	if (rc)
		return rc;
	for (unsigned int i = 0; i < tasks->nr_cpus; i++) {
		tasks->cpu[i].own = SIZE_MAX;
		tasks->cpu[i].booked_ns = tasks->cpu[i].excess_ns = 0;
	}
	for (uint32_t i = 0; i < nr; i++)
		book(tasks, &tasks->keys[i], &tasks->sums[i]);
	for (unsigned int i = 0; i < tasks->nr_cpus; i++) {
		const struct load_tasks_cpu *cpu = &tasks->cpu[i];

		if (cpu->known && cpu->was_known)
			add_running_tasks(tasks, i);
		if (cpu->lost_ns != cpu->was_lost_ns)
			add_nameless(tasks, i, cpu->lost_ns - cpu->was_lost_ns, "(no room)");
	}
	qsort(tasks->list, tasks->nr_list, sizeof(*tasks->list), by_core);
	if (subtract_reported(tasks))
		qsort(tasks->list, tasks->nr_list, sizeof(*tasks->list), by_core);
	return 0;
}
