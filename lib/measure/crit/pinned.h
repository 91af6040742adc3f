/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One thread per CPU, pinned to it, all let go at the same moment. */
#ifndef SUBTICK_MEASURE_CRIT_PINNED_H
#define SUBTICK_MEASURE_CRIT_PINNED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct pinned_job {
	unsigned int cpu;
	void *arg;
};

/*
 * Calls @run(arg, stop) for each job on its CPU and returns when all have. *stop turns true once
 * @stopped (optional) says so on the caller's thread; the jobs are to end soon then. Fails before
 * any job has run when a thread cannot be created or pinned.
 */
int pinned_run(const struct pinned_job *jobs, size_t nr,
	     void (*run)(void *arg, const volatile bool *stop), bool (*stopped)(void),
	     struct err *err);

#endif
