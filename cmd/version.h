/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick --version. */
#ifndef SUBTICK_CMD_VERSION_H
#define SUBTICK_CMD_VERSION_H

#include <stddef.h>

/* Prints the version, the kernel with its BTF, the libraries, and what was compiled in. */
void version_print(void);
/* One line: host, kernel, architecture, CPUs and the version of this program. */
void version_machine(char *buf, size_t size);

#endif
