/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which machine and kernel this is, as one line that is the same in every run on it. */
#ifndef SUBTICK_SYS_NODE_H
#define SUBTICK_SYS_NODE_H

#include <stddef.h>

/* "host, Linux 6.12.3 #1 SMP ..., aarch64, 4 CPUs"; cut off if @size is too small. */
void node_describe(char *buf, size_t size);

#endif
