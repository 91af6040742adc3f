/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One pinned thread per CPU, all started at the same time. */
#ifndef SUBTICK_MEASURE_CRIT_PINNED_H
#define SUBTICK_MEASURE_CRIT_PINNED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct pinned_job {
	unsigned int cpu;
	void *arg;
	/* Private to pinned_run(). */
	struct pinned_threads *threads;
	pthread_t thread;
};

/*
 * Calls @run(arg, stop) for each job on its CPU, and returns when all jobs have returned. *stop
 * becomes true when @stopped() returns true; jobs should then end soon. @stopped is optional and
 * called on the caller's thread. Fails before any job runs if a thread cannot be created or pinned.
 */
int pinned_run(struct pinned_job *jobs, size_t nr, void (*run)(void *arg, const atomic_bool *stop),
	       bool (*stopped)(void), struct err *err);

#endif
