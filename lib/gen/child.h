/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The process of a load generator: pinned, shares memory with us, dies when we die. */
#ifndef SUBTICK_GEN_CHILD_H
#define SUBTICK_GEN_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct gen_child {
	pid_t pid;
	void *shared; /* initially zero */
	size_t size;
};

/*
 * Forks and calls @run in the child, on @cpu (any if negative), with the shared memory. The child
 * exits when @run returns. It is killed when the parent dies, however it dies.
 */
int gen_child_start(struct gen_child *child, int cpu, size_t shared_size,
		    void (*run)(void *shared, void *arg), void *arg, struct err *err);
/* False if it has ended by itself, which happens only on an error. */
bool gen_child_alive(const struct gen_child *child);
/* Alive and still pinned to @cpu: if that goes offline, the kernel moves the child permanently. */
bool gen_child_on(const struct gen_child *child, int cpu);
/* Kills and reaps; safe to call twice. */
void gen_child_stop(struct gen_child *child);

#endif
