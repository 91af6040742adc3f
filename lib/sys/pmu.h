/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which hardware PMUs the kernel has. */
#ifndef SUBTICK_SYS_PMU_H
#define SUBTICK_SYS_PMU_H

#include <stddef.h>

/*
 * The names of the hardware event sources, sorted, as "a b c". Returns how many, or -errno;
 * -ENOENT if the kernel has no perf events.
 */
int pmu_list(const char *root, char *buf, size_t size);

#endif
