/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drops privileges of the exporter and of its helper process. */
#ifndef SUBTICK_SERVE_SANDBOX_H
#define SUBTICK_SERVE_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* Looks up the user @name in /etc/passwd. */
int sandbox_user(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct err *err);

/*
 * Changes the user from root to @user, drops all capabilities, and verifies that all are dropped.
 * If @keep_bpf is true, CAP_BPF is kept. sandbox_filter() still refuses to load programs and to
 * create maps. Call sandbox_drop() before a second thread exists, because capabilities are per
 * thread.
 */
int sandbox_drop(const char *user, bool keep_bpf, struct err *err);
/*
 * Restricts writing, creating and removing files to the directory @dir by Landlock, for this thread
 * and the threads that this thread creates later. If the kernel has no Landlock (before Linux
 * 5.13), sandbox_confine() logs that only file permissions restrict writing.
 */
int sandbox_confine(int dir, struct err *err);
/*
 * Installs a seccomp filter on all threads. The seccomp filter allows only the system calls of a
 * running exporter. Files can be written and removed only in the directory @history_dir. If
 * @history_dir is -1, no file can be written or removed.
 */
int sandbox_filter(int history_dir, struct err *err);

/*
 * Starts the helper process that opens files of container runtimes and sends the descriptors over
 * @ret_channel (pods/runtime_files.h). The exporter must not be able to open files of root, because
 * the exporter parses files of container runtimes and talks to clients. The helper exits when the
 * exporter closes its end of the channel. Call runtime_fd_helper_start() before a second thread
 * exists.
 */
int runtime_fd_helper_start(int *ret_channel, struct err *err);

#endif
