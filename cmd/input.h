/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files with saved output that commands read back. */
#ifndef SUBTICK_CMD_INPUT_H
#define SUBTICK_CMD_INPUT_H

#include <stddef.h>

#include "base/err.h"

/* The whole of a file of less than 256 MiB, also a pipe; allocated. NULL with the reason in @err. */
char *input_read(const char *path, size_t *ret_size, struct err *err);

#endif
