/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task time by core and task: what the programs of bpf/load_tasks.bpf.h counted in a window. */
#ifndef SUBTICK_MEASURE_LOAD_TASKS_H
#define SUBTICK_MEASURE_LOAD_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/load.h"
#include "stats/load.h"

#define LOAD_TASKS_MAX 32768 /* pairs of task and core in a window */

struct load_tasks {
	int fds[2]; /* of the maps for even and odd turns */
	unsigned int nr_cpus;
	const struct load_task_now *now; /* per CPU, and mapped: it goes on changing */
	struct load_task_key *keys;
	struct load_task_sum *sums;
	struct load_tasks_cpu *cpu; /* the running task and the sums at the last two turns */
	struct load_task *list;	    /* the window: by core, most time first */
	size_t nr_list;
};

int load_tasks_open(struct load_tasks *tasks, int even_fd, int odd_fd,
		    const struct load_task_now *now, unsigned int nr_cpus);
void load_tasks_close(struct load_tasks *tasks);
/* Notes who runs where: call right before the turn changes. */
void load_tasks_note(struct load_tasks *tasks);
/*
 * The sample of a CPU right after the turn: its task time is what its tasks must sum up to. One that
 * is void gives no figures for this window.
 */
void load_tasks_sample(struct load_tasks *tasks, unsigned int cpu, const struct load_sample *sample);
/* Ends the window: empties the map of @turn, the one that was written until now, into list. */
int load_tasks_read(struct load_tasks *tasks, uint64_t turn);

#endif
