/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of /sys and /proc that we change for a while, and that come back whatever happens to us. */
#ifndef SUBTICK_SYS_JOURNAL_H
#define SUBTICK_SYS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/guard.h"

struct nlmsghdr;

/*
 * What a file held is written to a journal on disk before the file is changed. A guard, a process
 * of its own, plays the journal back as soon as we are gone without having done so, even by
 * SIGKILL; if the guard dies as well, whoever opens the journal next does. A lock on the journal
 * keeps two of us from undoing each other's changes.
 */
struct journal {
	char root[256];
	char path[300];
	int fd;	   /* the journal, locked */
	struct guard guard;
	unsigned int changed;  /* files changed and not yet put back */
	unsigned int replayed; /* files put back by open(), left behind by somebody before us */
	unsigned int failed;   /* files that could not be put back */
};

/* @root as in sys/file.h. -EBUSY when another process holds changes right now. */
int journal_open(struct journal *journal, const char *root, struct err *err);
/* Writes @value to @path unless it is there already. */
int journal_set(struct journal *journal, const char *path, const char *value, struct err *err);
/* Keeps the message that undoes the next change of the network, which is the caller's to make. */
int journal_netlink(struct journal *journal, const struct nlmsghdr *undo, struct err *err);
/* Puts everything back, last change first, and ends the guard. */
void journal_close(struct journal *journal);

/* Plays back what a dead process left behind, if anything; how many files, or -errno. */
int journal_replay(const char *root);

#endif
