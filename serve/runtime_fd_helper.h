/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process that keeps the right to open files of container runtimes when the exporter drops it. */
#ifndef SUBTICK_SERVE_RUNTIME_FD_HELPER_H
#define SUBTICK_SERVE_RUNTIME_FD_HELPER_H

#include "base/err.h"

/*
 * The exporter parses files of runtimes and answers clients, so it must not be able to open files of
 * root. The helper can, and does neither: it finds the files, opens them and sends the descriptors
 * over the channel (sys/runtime_files.h). It exits when the other end of the channel is closed.
 * Call it before there is a second thread.
 */
int runtime_fd_helper_start(int *ret_channel, struct err *err);

#endif
