/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the BPF programs of `subtick noise` on a simulated core, and reads their counters. */
#ifndef SUBTICK_TESTS_UNIT_NOISE_CORE_H
#define SUBTICK_TESTS_UNIT_NOISE_CORE_H

#include "load_script.h"

#include "measure/noise/cells.h"

static struct irqaction disk = {.name = "nvme0q1"}, net = {.name = "eth0-rx-0"};
static struct noise_window lists;
static struct blocks memory;
static struct noise_cells cells;
static u64 turn;

/* The previous task sleeps, unless script_preempts is set. */
static inline void noise_to(u64 ns, struct task_struct *next)
{
	shim_current->state = !script_preempts;
	to_task(ns, next);
}

static inline int noise_begin(void **state)
{
	reset(state);
	idle.flags = PF_KTHREAD; /* the kernel also sets PF_KTHREAD for the idle task */
	want_noise = true;
	script_switch = noise_to;
	turn = 0;
	noise_cells_open(&cells, &lists, &memory, &noise_counts, 1);
	return memory.failed;
}

static inline int end(void **state)
{
	idle.flags = 0;
	blocks_free(&memory);
	return 0;
}

static inline void script_nvme(u64 ns, const u64 *arg)
{
	device(ns, arg[0], 40, &disk);
}

static inline void script_eth(u64 ns, const u64 *arg)
{
	device(ns, arg[0], 41, &net);
}

/* Reads the window whose sample is @s. */
static inline void read_cells(const struct load_sample *s)
{
	noise_window_seq += 1ULL << NOISE_WINDOW_SHIFT;
	noise_cells_begin(&cells);
	noise_cells_read(&cells, 0, turn++,
			 s->part_ns[LOAD_PART_TASK] + s->part_ns[LOAD_PART_KSOFTIRQD], true);
	noise_cells_end(&cells);
}

static inline struct load_sample window(u64 ns)
{
	struct load_sample s = see(ns);

	read_cells(&s);
	return s;
}

/* Words of scripts: LOAD_WORDS, and the device interrupts "nvme END" and "eth END". */
#define NOISE_WORDS LOAD_WORDS, {"nvme", .run = script_nvme}, {"eth", .run = script_eth}

#endif
