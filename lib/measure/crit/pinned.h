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
	/* For pinned_run() itself. */
	struct pinned_threads *threads;
	pthread_t thread;
};

/*
 * Calls @run(arg, stop) for each job on its CPU and returns when all have returned. *stop becomes
 * true when @stopped (optional), called on the caller's thread, returns true; the jobs should end
 * soon then. If a thread cannot be created or pinned, it fails before any job runs.
 */
int pinned_run(struct pinned_job *jobs, size_t nr, void (*run)(void *arg, const atomic_bool *stop),
	       bool (*stopped)(void), struct err *err);

#endif
