/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loading and unloading kernel modules. */
#ifndef SUBTICK_SYS_KMOD_H
#define SUBTICK_SYS_KMOD_H

#include <stdbool.h>

#include "base/err.h"

/* Whether it is loaded now, or built in with parameters. */
bool kmod_loaded(const char *name);
/*
 * Loads the installed module through modprobe, which knows compression, signatures and blacklists.
 * err->unsupported when there is none, the kernel takes none, or we may not.
 */
int kmod_load(const char *name, struct err *err);
/* Never waits: -EWOULDBLOCK when it is in use. */
int kmod_unload(const char *name);

#endif
