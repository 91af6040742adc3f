/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drops every privilege that serving, or reading the names of containers, does not need. */
#ifndef SUBTICK_SERVE_SANDBOX_H
#define SUBTICK_SERVE_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* Ids of the user to become, from /etc/passwd. */
int sandbox_user(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct err *err);

/*
 * Becomes @user if this process is root, drops all capabilities for good and checks that they are
 * gone; @keep_bpf: but for CAP_BPF, with which the filter allows only to read maps. Call it before
 * there is a second thread: capabilities belong to threads.
 */
int sandbox_drop(const char *user, bool keep_bpf, struct err *err);
/*
 * Restricts writing, making and removing files to the directory @dir, by Landlock. If the kernel has no
 * Landlock (before 5.13), logs that only the permissions of the user decide. For the calling thread and
 * threads that it creates later.
 */
int sandbox_confine(int dir, struct err *err);
/*
 * Installs a seccomp filter on all threads. It allows only the system calls that serving needs. Files may
 * be written and removed in the directory @history_dir only, or nowhere if it is -1.
 */
int sandbox_filter(int history_dir, struct err *err);

/*
 * The exporter parses files of runtimes and answers clients, so it must not be able to open files of
 * root. The helper can, and does neither: it finds the files, opens them and sends the descriptors
 * over the channel (pods/runtime_files.h). It exits when the other end of the channel is closed.
 * Call it before there is a second thread.
 */
int runtime_fd_helper_start(int *ret_channel, struct err *err);

#endif
