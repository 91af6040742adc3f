/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows CPUs going off- and online across samples. */
#ifndef SUBTICK_MEASURE_LOAD_HOTPLUG_H
#define SUBTICK_MEASURE_LOAD_HOTPLUG_H

#include <stdbool.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "sys/cpu.h"

struct hotplug {
	struct cpu_online file;
	struct cpuset online;
	struct cpuset returned; /* online now, offline at the last refresh */
};

int hotplug_open(struct hotplug *hotplug, struct err *err);
/* Reads the mask again: one system call for any number of CPUs. Keeps the old mask on failure. */
void hotplug_refresh(struct hotplug *hotplug);
void hotplug_close(struct hotplug *hotplug);

#endif
