/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens directories for good and reads what inotify says of them. */
#include "sys/watch.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "sys/file.h"

#define CHANGES (WATCH_NEW | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

bool watch_open(struct watch *watch, int inotify, const char *root, const char *path)
{
	char full[PATH_MAX];
	int fd;

	*watch = (struct watch){.wd = -1};
	if (sys_path(root, path, full, sizeof(full)))
		return false;
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	watch->dir = fd < 0 ? NULL : fdopendir(fd);
	if (!watch->dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	/* Before the caller looks: what comes between the two is seen twice, not never. */
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
