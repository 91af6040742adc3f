/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loading and unloading kernel modules. */
#ifndef SUBTICK_SYS_KMOD_H
#define SUBTICK_SYS_KMOD_H

#include <stdbool.h>

#include "base/err.h"

/* Whether it is loaded, or built in with parameters. */
bool kmod_loaded(const char *name);
/*
 * Loads the installed module with modprobe, which handles compression, signatures and blacklists.
 * err->unsupported if there is no such module, the kernel has no modules, or we lack privileges.
 */
int kmod_load(const char *name, struct err *err);
/* Does not wait: -EWOULDBLOCK if the module is in use. */
int kmod_unload(const char *name);

#endif
