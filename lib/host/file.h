/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small text files of /proc and /sys under a root that tests can change, and their parsing. */
#ifndef SUBTICK_SYS_FILE_H
#define SUBTICK_SYS_FILE_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/err.h"

/* The unread part of a line; @pos == @end at its end. */
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

static inline void scan_blanks(struct scan *scan)
{
	while (scan->pos < scan->end && *scan->pos == ' ')
		scan->pos++;
}

/* Decimal digits only; -EINVAL if there are none, -ERANGE beyond 64 bits. */
static inline int scan_u64(struct scan *scan, uint64_t *ret_value)
{
	const char *p = scan->pos;
	uint64_t value = 0;

	if (p == scan->end || *p < '0' || *p > '9')
		return -EINVAL;
	for (; p < scan->end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	scan->pos = p;
	*ret_value = value;
	return 0;
}

/*
 * Reads the next line of @text, without its newline. False at the end. @ret_cut: the last line has
 * no newline, so it may be cut off in the middle of a number.
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

/*
 * Reads the blank-separated numbers up to the end of the line. Stores the first @max; more are
 * checked and counted. Returns how many there are, or -errno.
 */
static inline int scan_columns(struct scan *line, uint64_t *cols, int max)
{
	uint64_t value;
	int nr = 0, rc;

	for (;;) {
		scan_blanks(line);
		if (line->pos == line->end)
			return nr;
		rc = scan_u64(line, &value);
		if (rc)
			return rc;
		if (line->pos < line->end && *line->pos != ' ')
			return -EINVAL;
		if (nr < max)
			cols[nr] = value;
		nr++;
	}
}

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
 * -EFBIG if the file is larger.
 */
char *sys_read_all(const char *path, size_t max, size_t *ret_size, struct err *err);
/* Contents of an open regular file from its start, or NULL. */
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

/* Events that end a watch: the directory is deleted or moved. */
#define WATCH_OVER (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)
#define WATCH_NEW  (IN_CREATE | IN_MOVED_TO)

struct watch {
	DIR *dir; /* NULL: missing */
	int wd;	  /* -1: not watched */
};

/* Opens @path below @root; false if it is missing. Without @inotify (-1) it is only opened. */
bool watch_open(struct watch *watch, int inotify, const char *root, const char *path);
void watch_close(struct watch *watch);
/* Whether the event is of that directory. */
bool watch_is(const struct watch *watch, const struct inotify_event *event);
/* Calls @handle for every event that has come; waits for none. -1 is fine. */
void watch_events(int inotify, void (*handle)(void *arg, const struct inotify_event *event),
		  void *arg);

#endif
