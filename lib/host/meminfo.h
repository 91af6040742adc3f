/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Available memory, memory limits of the process, and release of freed memory. */
#ifndef SUBTICK_SYS_MEMINFO_H
#define SUBTICK_SYS_MEMINFO_H

#include <stdbool.h>
#include <stdint.h>

/* Reads MemAvailable of /proc/meminfo. Returns -ENODATA if it is missing. */
int meminfo_available(const char *root, uint64_t *ret_bytes);

/* Minimum amount of freed memory in bytes for which meminfo_trim() calls malloc_trim(). */
#define MEMINFO_KEPT_BYTES (1UL << 20)

/* Returns freed memory of the heap to the kernel. True if any memory was returned. */
bool meminfo_trim(void);

/*
 * Lowest memory limit of this process's cgroup and its visible ancestors, v1 or v2; UINT64_MAX if
 * there is no limit. Memory that the cgroup uses is not subtracted from the limit, because much of
 * this memory is reclaimable page cache.
 */
uint64_t memlimit_bytes(const char *root);

#endif
