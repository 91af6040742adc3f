/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporary changes of files in /sys and /proc, which are restored even if we are killed. */
#ifndef SUBTICK_SYS_JOURNAL_H
#define SUBTICK_SYS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/guard.h"

struct nlmsghdr;

/*
 * The old value of a file is written to a journal on disk before the file is changed. If we die
 * without restoring it, even by SIGKILL, a guard process does. If the guard dies as well, the next
 * process that opens the journal does. A lock on the journal keeps two processes from undoing each
 * other's changes.
 */
struct journal {
	char root[256];
	char path[300];
	int fd;	   /* the journal, locked */
	struct guard guard;
	unsigned int changed;  /* files changed and not yet restored */
	unsigned int replayed; /* files that journal_open() restored after an earlier process */
	unsigned int failed;   /* files that could not be restored */
};

/* @root as in sys/file.h. -EBUSY if another process has changed settings right now. */
int journal_open(struct journal *journal, const char *root, struct err *err);
/* Writes @value to @path unless the file has it already. */
int journal_set(struct journal *journal, const char *path, const char *value, struct err *err);
/* Stores the message that undoes a network change; the caller makes the change after that. */
int journal_netlink(struct journal *journal, const struct nlmsghdr *undo, struct err *err);
/* Stores how @device stamps what it sends (txstamp.h); the caller makes the change after that. */
int journal_txstamp(struct journal *journal, const char *device, int tx_type, struct err *err);
/* Restores everything, last change first, and ends the guard. */
void journal_close(struct journal *journal);

/* Restores what a dead process left changed; returns how many files, or -errno. */
int journal_replay(const char *root);

#endif
