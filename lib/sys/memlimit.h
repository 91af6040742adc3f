/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much memory the cgroups of this process allow. */
#ifndef SUBTICK_SYS_MEMLIMIT_H
#define SUBTICK_SYS_MEMLIMIT_H

#include <stdint.h>

/*
 * The lowest memory limit of our cgroup and those above it, v2 or v1, as far as they are mounted
 * here; UINT64_MAX without a limit. What is in use already is not subtracted: much of that is page
 * cache, which the kernel gives up.
 */
uint64_t memlimit_bytes(const char *root);

#endif
