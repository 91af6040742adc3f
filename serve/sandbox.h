/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drops every privilege that serving, or reading the names of containers, does not need. */
#ifndef SUBTICK_SERVE_SANDBOX_H
#define SUBTICK_SERVE_SANDBOX_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Becomes @user if this process is root, drops all capabilities for good and checks that they are
 * gone; @keep_bpf: but for CAP_BPF, with which the filter allows only to read maps. Call it before
 * there is a second thread: capabilities belong to threads.
 */
int sandbox_drop(const char *user, bool keep_bpf, struct err *err);
/* Installs a seccomp filter on all threads: only the system calls that serving makes. */
int sandbox_filter(struct err *err);
/*
 * For the process that opens files of container runtimes (runtime_fd_helper.h): it stays root, to which these
 * belong, without capabilities; or keeps CAP_DAC_READ_SEARCH, if it is not root and has it. It can
 * open files for reading, list and watch directories, and send.
 */
int sandbox_reader(struct err *err);

#endif
