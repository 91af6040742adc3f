/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pressure of cgroups as counters. */
#ifndef SUBTICK_SERVE_RUNQ_PRESSURE_H
#define SUBTICK_SERVE_RUNQ_PRESSURE_H

#include "config.h"
#include "measure/runq/window.h"
#include "store.h"

/* Of one cgroup, or of the machine. Its rows end with those of the cgroup in store->seen. */
void runq_pressure_absorb(struct store *store, const struct config *config,
			  const struct runq_pressed *pressed);

#endif
