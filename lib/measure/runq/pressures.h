/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a runq window: the pressure of each cgroup, its name, and the kernel's own figure. */
#ifndef SUBTICK_MEASURE_RUNQ_PRESSURES_H
#define SUBTICK_MEASURE_RUNQ_PRESSURES_H

#include "base/err.h"
#include "measure/runq/filter.h"
#include "measure/runq/kernel.h"
#include "measure/runq/opts.h"
#include "measure/runq/window.h"

struct pods;
struct runq_pressures;

/*
 * The hierarchy of @opts is the one in use. @mount is where it is mounted if it has PSI, which is
 * that of v2; else NULL.
 */
int runq_pressures_open(const struct runq_opts *opts, const char *mount,
			struct runq_pressures **ret_pressures, struct err *err);
/* Ends the window; after that of @kernel, which knows the groups' names. @pods may be NULL. */
int runq_window_pressure(struct runq_window *window, struct runq_pressures *pressures,
			 const struct runq_kernel *kernel, const struct runq_filter *filter,
			 const struct pods *pods, struct err *err);
/* What cgroups without a name have waited so far is not part of a later window. */
void runq_pressures_drop(struct runq_pressures *pressures);
void runq_pressures_close(struct runq_pressures *pressures);

#endif
