/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporary changes of files in /sys and /proc, restored even after SIGKILL. */
#ifndef SUBTICK_SYS_JOURNAL_H
#define SUBTICK_SYS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "host/guard.h"

struct nlmsghdr;

/* maximum size of a value in bytes: the size of the largest sysfs file */
#define JOURNAL_VALUE 4096

/*
 * Journal of original values on disk, written before a file is changed. If this process dies, a
 * guard process restores the files. If the guard is killed, the next subtick command restores the
 * files. Only one process can lock the journal.
 */
struct journal {
	char root[256];
	char path[300];
	int fd;	   /* descriptor of the locked journal file; -1 if closed */
	struct guard guard;
	unsigned int failed; /* number of files that could not be restored */
	const char *keep; /* path of a file that journal_close() does not restore, or NULL */
};

/* Opens and locks the journal. Returns -EBUSY if another process holds the lock. */
int journal_open(struct journal *journal, const char *root, struct err *err);
/* Writes @value to @path, and the old value to the journal if it differs. */
int journal_set(struct journal *journal, const char *path, const char *value, struct err *err);
/*
 * Prepares a file that the caller will switch between two values with sys_write_file(). Writes
 * @value, reads the file and restores the original value. *@ret_was is the original value, and
 * *@ret_now is the value that was read. @ret_was and @ret_now are buffers of JOURNAL_VALUE bytes.
 * The journal restores the original value only if the file still contains *@ret_now, because
 * another program wrote any other value. Returns -EALREADY if *@ret_was and *@ret_now are equal.
 */
int journal_trial(struct journal *journal, const char *path, const char *value, char *ret_was,
		  char *ret_now, struct err *err);
/* Stores the netlink message @undo, before the caller makes the change that @undo reverts. */
int journal_netlink(struct journal *journal, const struct nlmsghdr *undo, struct err *err);
/* Stores the transmit timestamp mode of @device, before the caller changes the mode. */
int journal_txstamp(struct journal *journal, const char *device, int tx_type, struct err *err);
/* Restores all files except @journal->keep, the last change first, and ends the guard. */
void journal_close(struct journal *journal);

/* Undoes the changes of a process that died. Returns the number of restored files, or -errno. */
int journal_replay(const char *root);

#endif
