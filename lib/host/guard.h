/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A guard process reverts changes of its parent process when the parent dies, even by SIGKILL. */
#ifndef SUBTICK_SYS_GUARD_H
#define SUBTICK_SYS_GUARD_H

#include <sys/types.h>

struct guard {
	pid_t pid; /* pid of the guard process; 0 if there is none */
	int fd;	   /* socket to the guard; closing the socket wakes the guard */
};

/*
 * Forks the guard. When the parent dies, the guard calls @undo(@arg) in its copy of the memory. The
 * guard keeps only the descriptor @fd, which may be -1, because open descriptors of BPF links would
 * keep the programs attached.
 */
int guard_start(struct guard *guard, int fd, int (*undo)(const void *arg), const void *arg);
/* Ends the guard process without calling undo. */
void guard_dismiss(struct guard *guard);
/*
 * Makes the guard call @undo of guard_start(), and waits until @undo has returned. Returns -EIO if
 * @undo failed, or if there is no guard.
 */
int guard_undo(struct guard *guard);

#endif
