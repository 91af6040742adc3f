/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads small text files of /proc and /sys, below a root directory that tests can change. */
#ifndef SUBTICK_SYS_FILE_H
#define SUBTICK_SYS_FILE_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/err.h"

/* The part of a text that the parser has not read yet. */
struct scan {
	const char *pos;
	const char *end;
};

static inline bool scan_char(struct scan *scan, char c)
{
	if (scan->pos == scan->end || *scan->pos != c)
		return false;
	scan->pos++;
	return true;
}

static inline bool scan_word(struct scan *scan, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(scan->end - scan->pos) < len || memcmp(scan->pos, word, len))
		return false;
	scan->pos += len;
	return true;
}

/*
 * Removes the next line from @text and stores it in @ret_line without its newline. Returns false at
 * the end of @text. @ret_cut is true for a last line without newline, which may be truncated in the
 * middle of a number.
 */
static inline bool scan_line(struct scan *text, struct scan *ret_line, bool *ret_cut)
{
	const char *nl;

	*ret_cut = false;
	if (text->pos == text->end)
		return false;
	nl = memchr(text->pos, '\n', text->end - text->pos);
	*ret_cut = !nl;
	*ret_line = (struct scan){text->pos, nl ? nl : text->end};
	text->pos = nl ? nl + 1 : text->end;
	return true;
}

#define SYS_PATH_SIZE 512
/* Formats a path into @buf. A path of SYS_PATH_SIZE bytes or more becomes "". Returns @buf. */
const char *sys_path_format(char buf[SYS_PATH_SIZE], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Formats a path into a buffer that lives until the end of the enclosing block. */
#define SYS_PATH(...) sys_path_format((char[SYS_PATH_SIZE]){0}, __VA_ARGS__)

/*
 * Joins @root (NULL is "/") and the absolute @path. All functions with a parameter @root look for
 * @path below @root, so that tests can simulate other machines.
 */
int sys_path(const char *root, const char *path, char *buf, size_t size);
/* Opens a file read-only and close-on-exec. Returns the file's descriptor or -errno. */
int sys_open(const char *root, const char *path);
bool sys_exists(const char *root, const char *path);
/* Raises RLIMIT_NOFILE to its hard limit. Returns false if RLIMIT_NOFILE could not be raised. */
bool sys_more_descriptors(void);
/*
 * Closes all descriptors except the standard descriptors, @a and @b. The higher of @a and @b must
 * be 3 or more; the lower may be -1.
 */
void sys_close_others(int a, int b);

/* Closes *@fd if *@fd is not negative, and sets *@fd to -1. */
static inline void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * Reads a whole file as a string without trailing newlines. Returns the length, -ENOSPC if the file
 * does not fit into @buf, or another -errno.
 */
int sys_read_file(const char *root, const char *path, char *buf, size_t size);
/* Reads the start of a file as a string. Returns the length, or 0 if the file is unreadable. */
size_t sys_read_begin(const char *root, const char *path, char *buf, size_t size);
/*
 * Reads a file or pipe into a string, which the caller frees. On failure returns NULL and sets
 * @err, to -EFBIG if the file has more than @max bytes.
 */
char *sys_read_all(const char *path, size_t max, size_t *ret_size, struct err *err);
/* Reads an open regular file of at most @max bytes from its start. Returns NULL on failure. */
char *sys_read_fd(int fd, size_t max, size_t *ret_size);
/* Replaces the content of an existing file. If @text is empty, writes a newline. */
int sys_write_file(const char *root, const char *path, const char *text);
/*
 * Reads a decimal number, or a hexadecimal number that begins with 0x. Returns -EINVAL if the file
 * does not contain a number.
 */
int sys_read_u64(const char *root, const char *path, uint64_t *ret_value);

/* A file that is read repeatedly through one descriptor into a growing buffer. */
struct sys_text {
	int fd;
	char *buf;
	size_t size;
	size_t len;
};

int sys_text_open(struct sys_text *text, const char *root, const char *path, size_t size_hint);
/* Opens a file that is required. If the file is missing, sets @err with the advice @fix. */
int sys_text_need(struct sys_text *text, const char *root, const char *path, size_t size_hint,
		  const char *fix, struct err *err);
/*
 * Reads the whole file from its start. @one_read skips the read that would return end of file: the
 * kernel returns /proc/stat and sysfs files in one read.
 */
int sys_text_read(struct sys_text *text, bool one_read);
void sys_text_close(struct sys_text *text);

/* Inotify events that end a watch (directory deleted or moved), and events for new entries. */
#define WATCH_OVER (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)
#define WATCH_NEW  (IN_CREATE | IN_MOVED_TO)

struct watch {
	DIR *dir; /* directory stream; NULL if the directory is missing */
	int wd;	  /* inotify watch descriptor, or -1 */
};

/*
 * @watch must be zeroed or open; an open watch is closed first. If @inotify is -1, opens the
 * directory without watching it. Returns false if the directory @path cannot be opened.
 */
bool watch_open(struct watch *watch, int inotify, const char *root, const char *path);
void watch_close(struct watch *watch);
/* True if the inotify event is about the directory of @watch. */
bool watch_is(const struct watch *watch, const struct inotify_event *event);
/* Calls @handle for every pending inotify event without blocking. @inotify may be -1. */
void watch_events(int inotify, void (*handle)(void *arg, const struct inotify_event *event),
		  void *arg);

#endif
