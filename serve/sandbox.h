/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gives up every privilege that serving does not need. */
#ifndef SUBTICK_SERVE_SANDBOX_H
#define SUBTICK_SERVE_SANDBOX_H

#include "base/err.h"

/*
 * Becomes @user where this process is root, drops all capabilities for good and checks that they
 * are gone. One thread only: capabilities belong to threads.
 */
int sandbox_drop(const char *user, struct err *err);
/* Limits all threads to the system calls that serving makes. */
int sandbox_filter(struct err *err);

#endif
