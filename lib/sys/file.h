/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small text files of /proc and /sys, under a root that tests can change. */
#ifndef SUBTICK_SYS_FILE_H
#define SUBTICK_SYS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Every function with a @root looks for @path (absolute) below it; NULL is the machine's own root.
 * So a test can simulate another machine with a tree of files.
 */
int sys_path(const char *root, const char *path, char *buf, size_t size);
/* A read-only, close-on-exec descriptor, or -errno. */
int sys_open(const char *root, const char *path);
bool sys_exists(const char *root, const char *path);
/* Raises the limit of open files to the hard one after -EMFILE; false if that is reached. */
bool sys_more_descriptors(void);

/*
 * Reads the whole file into @buf as a string without trailing newlines. Returns the length,
 * -ENOSPC if it does not fit, or another -errno.
 */
int sys_read_file(const char *root, const char *path, char *buf, size_t size);
/*
 * Reads a file or pipe of at most @max bytes into an allocated string. NULL with the reason in @err:
 * -EFBIG if it is larger.
 */
char *sys_read_all(const char *path, size_t max, size_t *ret_size, struct err *err);
/* The same of an open regular file, from its start; NULL for any failure. */
char *sys_read_fd(int fd, size_t max, size_t *ret_size);
/* Replaces the content of an existing file. Empty text becomes a newline. 0 or -errno. */
int sys_write_file(const char *root, const char *path, const char *text);
/* Decimal, or hexadecimal after 0x; -EINVAL if the file contains anything else. */
int sys_read_u64(const char *root, const char *path, uint64_t *ret_value);

/* A file that is read repeatedly through one descriptor into a buffer that grows. */
struct sys_text {
	int fd;
	char *buf;
	size_t size;
	size_t len;
};

int sys_text_open(struct sys_text *text, const char *root, const char *path, size_t size_hint);
/* The same, with an error for people; without the file the machine lacks something: @fix. */
int sys_text_need(struct sys_text *text, const char *root, const char *path, size_t size_hint,
		  const char *fix, struct err *err);
/*
 * Reads from the start. @one_read: the kernel returns the whole file in one read (/proc/stat, any
 * sysfs attribute), so a short read is the end and one system call is enough.
 */
int sys_text_read(struct sys_text *text, bool one_read);
void sys_text_close(struct sys_text *text);

#endif
