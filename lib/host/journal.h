/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporary changes of files in /sys and /proc, which are restored even if we are killed. */
#ifndef SUBTICK_SYS_JOURNAL_H
#define SUBTICK_SYS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "host/guard.h"

struct nlmsghdr;

#define JOURNAL_VALUE 4096 /* the largest sysfs file */

/*
 * The old value of a file is written to a journal on disk before the file is changed. If we die
 * without restoring it, even by SIGKILL, a guard process does. If the guard dies as well, the next
 * subtick command does. A lock on the journal keeps two processes from undoing each other's changes.
 */
struct journal {
	char root[256];
	char path[300];
	int fd;	   /* the journal, locked */
	struct guard guard;
	unsigned int failed;  /* files that could not be restored */
	const char *keep; /* journal_close() leaves this file as it is; NULL: none */
};

/* @root as in host/file.h. -EBUSY if another process has changed settings right now. */
int journal_open(struct journal *journal, const char *root, struct err *err);
/* Writes @value to @path unless the file has it already. */
int journal_set(struct journal *journal, const char *path, const char *value, struct err *err);
/*
 * Prepares a file to be set to @value and back many times. Writes @value, reads back what the kernel
 * made of it, restores the file, and stores a line that restores it later. That line applies only
 * while the file contains our value: a value that another program wrote stays. *@ret_was is the
 * original value, *@ret_now ours; both have room for JOURNAL_VALUE bytes. The caller writes them
 * with sys_write_file(). -EALREADY if the file has that value.
 */
int journal_trial(struct journal *journal, const char *path, const char *value, char *ret_was,
		  char *ret_now, struct err *err);
/* Stores the message that undoes a network change; the caller makes the change after that. */
int journal_netlink(struct journal *journal, const struct nlmsghdr *undo, struct err *err);
/* Stores the transmit timestamp mode of @device; the caller makes the change after that. */
int journal_txstamp(struct journal *journal, const char *device, int tx_type, struct err *err);
/* Restores everything but @journal->keep, last change first, and ends the guard. */
void journal_close(struct journal *journal);

/* Restores what a dead process left changed; returns how many files, or -errno. */
int journal_replay(const char *root);

#endif
