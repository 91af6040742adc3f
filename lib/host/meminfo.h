/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Available memory, memory limits of the process, and release of freed memory. */
#ifndef SUBTICK_SYS_MEMINFO_H
#define SUBTICK_SYS_MEMINFO_H

#include <stdint.h>

/* Reads MemAvailable of /proc/meminfo. Returns -ENODATA if the kernel does not report it. */
int meminfo_available(const char *root, uint64_t *ret_bytes);

/* Minimum amount of freed memory in bytes for which meminfo_trim() calls malloc_trim(). */
#define MEMINFO_KEPT_BYTES (1UL << 20)

/* Returns freed memory of the heap to the kernel. */
void meminfo_trim(void);

/*
 * Lowest memory limit in bytes of this process's cgroup and its visible ancestors, v1 or v2;
 * UINT64_MAX without a limit. Used memory is not subtracted, because much of it is reclaimable page
 * cache.
 */
uint64_t memlimit_bytes(const char *root);

#endif
