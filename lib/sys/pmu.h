/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which hardware PMUs the kernel has. */
#ifndef SUBTICK_SYS_PMU_H
#define SUBTICK_SYS_PMU_H

#include <stddef.h>

/*
 * Names of the event sources that stand for hardware, sorted, as "a b c". Returns how many, or
 * -errno; -ENOENT when the kernel has no perf events.
 */
int pmu_list(const char *root, char *buf, size_t size);

#endif
