/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process that undoes what we changed once we are gone, even by SIGKILL. */
#ifndef SUBTICK_SYS_GUARD_H
#define SUBTICK_SYS_GUARD_H

#include <sys/types.h>

struct guard {
	pid_t pid; /* 0: none */
	int fd;	   /* our end of a socket; closing it, or our death, wakes the guard */
};

/*
 * Forks. The guard keeps @fd (or -1) and no other descriptor: one that kept our BPF links would keep
 * our programs running. When we are gone it calls @undo(@arg), which returns 0 or -errno, on the copy
 * that it has of our memory.
 */
int guard_start(struct guard *guard, int fd, int (*undo)(const void *arg), const void *arg);
/* Ends it without undoing anything. */
void guard_dismiss(struct guard *guard);
/* Has it undo now, and waits. -EIO when it failed or was killed before. */
int guard_undo(struct guard *guard);

#endif
