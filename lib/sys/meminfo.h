/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much memory is available without swapping. */
#ifndef SUBTICK_SYS_MEMINFO_H
#define SUBTICK_SYS_MEMINFO_H

#include <stdint.h>

/* MemAvailable of /proc/meminfo; -ENODATA if the kernel does not report it. */
int meminfo_available(const char *root, uint64_t *ret_bytes);

#endif
