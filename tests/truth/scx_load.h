/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads and unloads the sched_ext schedulers of scx.bpf.c. */
#ifndef SUBTICK_TESTS_TRUTH_SCX_LOAD_H
#define SUBTICK_TESTS_TRUTH_SCX_LOAD_H

enum scx_scheduler {
	SCX_FIFO,   /* one queue for all tasks */
	SCX_GROUPS, /* a queue per cgroup, served in rotation */
	SCX_NR,
};

/* Names in /sys/kernel/sched_ext/root/ops. */
extern const char *const scx_names[SCX_NR];

/*
 * Loads the programs of a scheduler. Only one scheduler can be loaded at a time. Skips the program
 * on kernels without sched_ext.
 */
void scx_load(enum scx_scheduler which);
/* Moves all ordinary tasks to the scheduler. */
void scx_enable(void);
/*
 * Moves the tasks back to the fair class and frees the programs. Fails the program if the kernel
 * has ejected the scheduler.
 */
void scx_disable(void);

#endif
