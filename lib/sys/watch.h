/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Directories that are kept open and watched by inotify. */
#ifndef SUBTICK_SYS_WATCH_H
#define SUBTICK_SYS_WATCH_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/inotify.h>

/* What ends a watch: the directory is deleted or moved away. */
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
