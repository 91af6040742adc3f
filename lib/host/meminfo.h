/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that is available without swapping or that our cgroups allow; giving some back. */
#ifndef SUBTICK_SYS_MEMINFO_H
#define SUBTICK_SYS_MEMINFO_H

#include <stdbool.h>
#include <stdint.h>

/* MemAvailable of /proc/meminfo; -ENODATA if the kernel does not report it. */
int meminfo_available(const char *root, uint64_t *ret_bytes);

/* Freed memory that a process may keep. */
#define MEMINFO_KEPT_BYTES (1UL << 20)

/* Gives memory that was freed back to the kernel, if it is more than that; true if it did. */
bool meminfo_trim(void);

/*
 * The lowest memory limit of our cgroup and those above it, v2 or v1, as far as they are mounted
 * here; UINT64_MAX without a limit. Used memory is not subtracted: much of it is reclaimable page
 * cache.
 */
uint64_t memlimit_bytes(const char *root);

#endif
