/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process that undoes our changes when we die, even by SIGKILL. */
#ifndef SUBTICK_SYS_GUARD_H
#define SUBTICK_SYS_GUARD_H

#include <sys/types.h>

struct guard {
	pid_t pid; /* 0: none */
	int fd;	   /* our end of a socket; the guard wakes when it is closed or we die */
};

/*
 * Forks the guard. It keeps @fd (or -1) and no other descriptor: with our BPF links open it would
 * keep our programs running. When we die it calls @undo(@arg), which returns 0 or -errno, in its
 * copy of our memory.
 */
int guard_start(struct guard *guard, int fd, int (*undo)(const void *arg), const void *arg);
/* Ends the guard without undoing anything. */
void guard_dismiss(struct guard *guard);
/* Makes the guard undo now, and waits. -EIO if that failed or the guard was killed before. */
int guard_undo(struct guard *guard);

#endif
