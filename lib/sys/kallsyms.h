/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Addresses of the kernel's functions. */
#ifndef SUBTICK_SYS_KALLSYMS_H
#define SUBTICK_SYS_KALLSYMS_H

#include <stdint.h>

/*
 * The address of the first function in the kernel's list whose name is one of @names, which end with
 * NULL. -ENOENT if it has none of them, -EPERM if it hides addresses. @root as in sys/file.h.
 */
int kallsyms_find(const char *root, const char *const *names, uint64_t *ret_address);

#endif
