/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task time by CPU and task, counted by the programs in bpf/load_tasks.bpf.h. */
#ifndef SUBTICK_MEASURE_LOAD_TASKS_H
#define SUBTICK_MEASURE_LOAD_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/load.h"
#include "base/array.h"
#include "stats/load.h"

#define LOAD_TASKS_MAX 32768 /* maximum number of map entries (task and CPU) in a window */

struct load_tasks {
	/* descriptors of two BPF maps of task time: for even and for odd window numbers */
	int fds[2];
	unsigned int nr_cpus;
	/* mapped array by CPU that BPF programs update concurrently */
	const struct load_task_now *now;
	struct load_task_key *keys;
	struct load_task_sum *sums;
	/* for each CPU: running task, and task times at the ends of the last two windows */
	struct load_tasks_cpu *cpu;
	struct load_task *list;	    /* tasks of the window by CPU, most time first */
	size_t nr_list;
};

/* Allocates the arrays. The caller checks @memory->failed. */
void load_tasks_open(struct load_tasks *tasks, struct blocks *memory, int even_fd, int odd_fd,
		     const struct load_task_now *now, unsigned int nr_cpus);
/* Stores the running task of each CPU. Must run directly before task_window_seq is incremented. */
void load_tasks_note(struct load_tasks *tasks);
/*
 * Stores the task time of a CPU, which equals the sum of the times of all its tasks. @sample must
 * be taken directly after task_window_seq is incremented. If @sample is invalid, the window has no
 * task times of the CPU.
 */
void load_tasks_sample(struct load_tasks *tasks, unsigned int cpu, const struct load_sample *sample);
/* Ends the window @window_seq: moves the entries of the window's map to @tasks->list. */
int load_tasks_read(struct load_tasks *tasks, uint64_t window_seq);

#endif
