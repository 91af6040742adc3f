/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads and unloads the sched_ext schedulers of scx.bpf.c. */
#ifndef SUBTICK_TESTS_TRUTH_SCX_LOAD_H
#define SUBTICK_TESTS_TRUTH_SCX_LOAD_H

enum scx_scheduler {
	SCX_FIFO,   /* one queue for all tasks */
	SCX_GROUPS, /* a queue per cgroup, served in rotation */
	SCX_NR,
};

/* Names of the schedulers in /sys/kernel/sched_ext/root/ops. */
extern const char *const scx_names[SCX_NR];

/*
 * Loads the BPF programs of a scheduler. Only one scheduler can be loaded at a time. Skips the test
 * program on kernels without sched_ext.
 */
void scx_load(enum scx_scheduler which);
/* Enables the loaded scheduler for all ordinary tasks. */
void scx_enable(void);
/*
 * Disables the loaded scheduler, which moves all tasks back to the fair class, and frees the BPF
 * programs. Fails the test program if the kernel has ejected the scheduler.
 */
void scx_disable(void);

#endif
