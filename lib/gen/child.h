/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A generator's own process: pinned, sharing one page with us, gone when we are. */
#ifndef SUBTICK_GEN_CHILD_H
#define SUBTICK_GEN_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct gen_child {
	pid_t pid;
	void *shared; /* zeroed, visible to both sides */
	size_t size;
};

/*
 * Forks; @run is called in the child on @cpu (any if negative) with the shared memory and never
 * returns to the caller's code. The child is killed when the parent dies, however it dies.
 */
int gen_child_start(struct gen_child *child, int cpu, size_t shared_size,
		    void (*run)(void *shared, void *arg), void *arg, struct err *err);
/* False once it has ended by itself, which none does but on an error. */
bool gen_child_alive(const struct gen_child *child);
/* Alive and still bound to @cpu: when that goes offline, the kernel binds it to others for good. */
bool gen_child_on(const struct gen_child *child, int cpu);
/* Kills and reaps; safe to call twice. */
void gen_child_stop(struct gen_child *child);

#endif
