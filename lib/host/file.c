/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads and writes small text files, and watches directories with inotify. */
#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *sys_path_format(char buf[SYS_PATH_SIZE], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(buf, SYS_PATH_SIZE, fmt, ap) >= SYS_PATH_SIZE)
		buf[0] = '\0';
	va_end(ap);
	return buf;
}

int sys_path(const char *root, const char *path, char *buf, size_t size)
{
	int len = snprintf(buf, size, "%s%s", root ? root : "", path);

	return len >= 0 && (size_t)len < size ? 0 : -ENAMETOOLONG;
}

int sys_open(const char *root, const char *path)
{
	char full[PATH_MAX];
	int fd, rc;

	rc = sys_path(root, path, full, sizeof(full));
	if (rc)
		return rc;
	fd = open(full, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The seccomp filter of the exporter allows stat(), but not access(). */
bool sys_exists(const char *root, const char *path)
{
	char full[PATH_MAX];
	struct stat found;

	return !sys_path(root, path, full, sizeof(full)) && !stat(full, &found);
}

bool sys_more_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &limit);
}

static void close_span(unsigned int first, unsigned int last)
{
	if (first > last)
		return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, first, last, 0))
		return;
#endif
	/* Linux before 5.9 lacks close_range(). The default limit of descriptors is below 65536. */
	for (unsigned int fd = first; fd <= last && fd < 65536; fd++)
		close(fd);
}

void sys_close_others(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	if (low < 3)
		low = 2;
	close_span(3, low - 1);
	close_span(low + 1, high - 1);
	close_span(high + 1, ~0U);
}

static ssize_t pread_retry(int fd, char *buf, size_t size, off_t pos)
{
	ssize_t len;

	do
		len = pread(fd, buf, size, pos);
	while (len < 0 && errno == EINTR);
	return len < 0 ? -errno : len;
}

/* Reads from the start until @buf is full. A seq_file can return short reads before its end. */
static ssize_t pread_full(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t got = 1;

	while (got > 0 && len < size) {
		got = pread_retry(fd, buf + len, size - len, len);
		len += got > 0 ? got : 0;
	}
	return got < 0 ? got : (ssize_t)len;
}

static ssize_t read_path(const char *root, const char *path, char *buf, size_t size)
{
	int fd = sys_open(root, path);
	ssize_t len;

	if (fd < 0)
		return fd;
	len = pread_full(fd, buf, size);
	close(fd);
	return len;
}

int sys_read_file(const char *root, const char *path, char *buf, size_t size)
{
	ssize_t len = read_path(root, path, buf, size);

	if (len == (ssize_t)size)
		return -ENOSPC;
	while (len > 0 && buf[len - 1] == '\n')
		len--;
	if (len >= 0)
		buf[len] = '\0';
	return len;
}

size_t sys_read_begin(const char *root, const char *path, char *buf, size_t size)
{
	ssize_t len = read_path(root, path, buf, size - 1);

	len = len < 0 ? 0 : len;
	buf[len] = '\0';
	return len;
}

char *sys_read_all(const char *path, size_t max, size_t *ret_size, struct err *err)
{
	FILE *file = fopen(path, "re");
	char *text = NULL, *more = NULL;
	size_t size = 0;
	int rc = 0;

	/* Pipes and /proc files have no size, so the buffer grows while reading. */
	while (file && size <= max && !feof(file) && !ferror(file) &&
	       (more = realloc(text, size + (1 << 16) + 1))) {
		text = more;
		size += fread(text + size, 1, 1 << 16, file);
	}
	if (!file || ferror(file))
		rc = err_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	else if (!more)
		rc = err_set(err, -ENOMEM, "out of memory");
	else if (size > max)
		rc = err_set(err, -EFBIG, "%s is larger than %zu KiB", path, max >> 10);
	if (file)
		fclose(file);
	if (rc) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	*ret_size = size;
	return text;
}

char *sys_read_fd(int fd, size_t max, size_t *ret_size)
{
	struct stat file;
	ssize_t len;
	char *text;

	if (fstat(fd, &file) || !S_ISREG(file.st_mode) || (size_t)file.st_size > max)
		return NULL;
	text = malloc(file.st_size + 1);
	len = text ? pread_full(fd, text, file.st_size) : -ENOMEM;
	if (len < 0) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	*ret_size = len;
	return text;
}

int sys_write_file(const char *root, const char *path, const char *text)
{
	char full[PATH_MAX];
	ssize_t len;
	int fd, rc = sys_path(root, path, full, sizeof(full));

	if (rc)
		return rc;
	/* Some kernel files ignore an empty write, so write a newline. */
	if (!text[0])
		text = "\n";
	fd = open(full, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do
		len = write(fd, text, strlen(text));
	while (len < 0 && errno == EINTR);
	rc = len < 0 ? -errno : 0;
	close(fd);
	return rc;
}

int sys_read_u64(const char *root, const char *path, uint64_t *ret_value)
{
	unsigned long long value;
	char buf[64], *end;
	int rc = sys_read_file(root, path, buf, sizeof(buf));

	if (rc < 0)
		return rc;
	errno = 0;
	value = strtoull(buf, &end, buf[0] == '0' && buf[1] == 'x' ? 16 : 10);
	/* strtoull() accepts blanks and a sign before the digits; this function does not. */
	if (errno || *end || buf[0] < '0' || buf[0] > '9')
		return errno ? -errno : -EINVAL;
	*ret_value = value;
	return 0;
}

int sys_text_open(struct sys_text *text, const char *root, const char *path, size_t size_hint)
{
	memset(text, 0, sizeof(*text));
	text->fd = sys_open(root, path);
	if (text->fd < 0)
		return text->fd;
	text->size = size_hint > 64 ? size_hint : 64;
	text->buf = malloc(text->size);
	if (text->buf)
		return 0;
	close(text->fd);
	text->fd = -1;
	return -ENOMEM;
}

int sys_text_need(struct sys_text *text, const char *root, const char *path, size_t size_hint,
		  const char *fix, struct err *err)
{
	int rc = sys_text_open(text, root, path, size_hint);

	if (rc == -ENOENT)
		return err_unsupported(err, rc, fix, "%s is missing", path);
	return rc ? err_set(err, rc, "cannot open %s: %s", path, strerror(-rc)) : 0;
}

int sys_text_read(struct sys_text *text, bool one_read)
{
	size_t len = 0, room;
	ssize_t got;
	char *larger;

	text->len = 0;
	do {
		room = text->size - 1 - len;
		got = pread_retry(text->fd, text->buf + len, room, len);
		if (got < 0)
			return got;
		len += got;
		if ((size_t)got < room)
			continue;
		larger = realloc(text->buf, text->size * 2);
		if (!larger)
			return -ENOMEM;
		text->buf = larger;
		text->size *= 2;
		/* Start again: appended text would be newer than the text that was read before. */
		len = 0;
	} while (got && !(len && one_read && text->buf[len - 1] == '\n'));
	text->buf[len] = '\0';
	text->len = len;
	return 0;
}

void sys_text_close(struct sys_text *text)
{
	/* A zeroed struct sys_text has no buffer, and its descriptor 0 is not an open file. */
	if (text->buf)
		close(text->fd);
	free(text->buf);
	*text = (struct sys_text){.fd = -1};
}

#define CHANGES (WATCH_NEW | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

bool watch_open(struct watch *watch, int inotify, const char *root, const char *path)
{
	char full[PATH_MAX];
	int fd;

	watch_close(watch);
	if (sys_path(root, path, full, sizeof(full)))
		return false;
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	watch->dir = fd < 0 ? NULL : fdopendir(fd);
	if (!watch->dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	/* Watch before the caller reads the directory, so that no new entry is missed. */
	if (inotify >= 0)
		watch->wd = inotify_add_watch(inotify, full, CHANGES);
	return true;
}

void watch_close(struct watch *watch)
{
	if (watch->dir)
		closedir(watch->dir);
	*watch = (struct watch){.wd = -1};
}

bool watch_is(const struct watch *watch, const struct inotify_event *event)
{
	return watch->wd >= 0 && event->wd == watch->wd;
}

void watch_events(int inotify, void (*handle)(void *arg, const struct inotify_event *event),
		  void *arg)
{
	char buf[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t len;

	while (inotify >= 0 && (len = read(inotify, buf, sizeof(buf))) > 0)
		for (char *at = buf; at < buf + len;) {
			const struct inotify_event *event = (void *)at;

			handle(arg, event);
			at += sizeof(*event) + event->len;
		}
}
