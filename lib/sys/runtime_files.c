/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Watches the directories of container runtimes; opens regular files only, follows no links. */
#include "sys/runtime_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/file.h"

#define CHANGES (IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF)
/* How often to look for a directory that is missing, and for a file that is not there yet. */
#define RETRY_NS (NSEC_PER_SEC / 2)
/* A runtime writes the file when it has made the directory; later than that there will be none. */
#define PATIENCE_NS (10 * NSEC_PER_SEC)
#define MAX_PENDING 1024

/* containerd makes one directory for each container, podman and CRI-O keep one list. */
static const struct {
	const char *path, *file;
	enum runtime_format format;
} places[RUNTIME_NR_PLACES] = {
	{"/run/containerd/io.containerd.runtime.v2.task/k8s.io", "config.json", RUNTIME_OCI},
	{"/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io", "config.json", RUNTIME_OCI},
	{"/var/lib/docker/containers", "config.v2.json", RUNTIME_DOCKER},
	{"/var/lib/containers/storage/overlay-containers", "containers.json", RUNTIME_STORAGE},
	{"/var/lib/containers/storage/overlay-containers", "volatile-containers.json",
	 RUNTIME_STORAGE},
};

struct place {
	DIR *dir;  /* NULL: missing */
	int watch; /* -1: not watched */
	bool changed; /* everything is to be looked at */
};

struct pending {
	uint64_t since_ns;
	unsigned int place;
	char id[RUNTIME_ID_LEN + 1];
};

struct runtime_files {
	char *root;
	int inotify; /* -1: unavailable */
	uint64_t retry_ns;
	struct place place[RUNTIME_NR_PLACES];
	struct pending pending[MAX_PENDING];
	size_t nr_pending;
};

enum runtime_format runtime_files_format(unsigned int place)
{
	return places[place].format;
}

static bool is_id(const char *name)
{
	return pod_name_is_id((struct pod_text){name, strnlen(name, RUNTIME_ID_LEN + 1)});
}

static void place_leave(struct place *place)
{
	if (place->dir)
		closedir(place->dir);
	*place = (struct place){.watch = -1};
}

static void place_open(struct runtime_files *files, unsigned int nr)
{
	struct place *place = &files->place[nr];
	char path[PATH_MAX];
	int fd;

	place_leave(place);
	if (sys_path(files->root, places[nr].path, path, sizeof(path)))
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	place->dir = fd < 0 ? NULL : fdopendir(fd);
	if (!place->dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	/* First the watch, then the look: what comes between the two is seen twice, not never. */
	if (files->inotify >= 0)
		place->watch = inotify_add_watch(files->inotify, path, CHANGES | IN_ONLYDIR);
	place->changed = true;
}

int runtime_files_open(const char *root, struct runtime_files **ret_files)
{
	struct runtime_files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	if (root) {
		files->root = strdup(root);
		if (!files->root) {
			free(files);
			return -ENOMEM;
		}
	}
	files->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	files->retry_ns = clock_mono_ns();
	for (unsigned int i = 0; i < RUNTIME_NR_PLACES; i++)
		place_open(files, i);
	*ret_files = files;
	return 0;
}

void runtime_files_close(struct runtime_files *files)
{
	if (!files)
		return;
	for (unsigned int i = 0; i < RUNTIME_NR_PLACES; i++)
		place_leave(&files->place[i]);
	if (files->inotify >= 0)
		close(files->inotify);
	free(files->root);
	free(files);
}

bool runtime_files_present(const struct runtime_files *files)
{
	for (unsigned int i = 0; i < RUNTIME_NR_PLACES; i++)
		if (files->place[i].dir)
			return true;
	return false;
}

static void pending_add(struct runtime_files *files, unsigned int place, const char *id)
{
	struct pending *pending = &files->pending[files->nr_pending];

	if (files->nr_pending == MAX_PENDING) {
		/* They are in the directory: found when all of it is looked at again. */
		files->place[place].changed = true;
		return;
	}
	*pending = (struct pending){.since_ns = clock_mono_ns(), .place = place};
	memcpy(pending->id, id, RUNTIME_ID_LEN);
	files->nr_pending++;
}

/* A regular file that seems to be whole, or -1. O_NONBLOCK, because it might be a FIFO. */
static int file_open(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat file;
	char last;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_size > 0 &&
	    pread(fd, &last, 1, file.st_size - 1) == 1 && (last == '}' || last == ']' || last == '\n'))
		return fd;
	close(fd);
	return -1;
}

static int container_open(const struct runtime_files *files, const struct pending *pending)
{
	int dir = dirfd(files->place[pending->place].dir), inner, fd;

	inner = openat(dir, pending->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (inner < 0)
		return -1;
	fd = file_open(inner, places[pending->place].file);
	close(inner);
	return fd;
}

static void pending_try(struct runtime_files *files, runtime_file_fn found, void *arg)
{
	uint64_t now = clock_mono_ns();
	size_t kept = 0;

	for (size_t i = 0; i < files->nr_pending; i++) {
		struct pending *pending = &files->pending[i];
		int fd = files->place[pending->place].dir ? container_open(files, pending) : -1;

		if (fd >= 0)
			found(arg, pending->place, pending->id, fd);
		else if (now - pending->since_ns < PATIENCE_NS)
			files->pending[kept++] = *pending;
	}
	files->nr_pending = kept;
}

static void place_scan(struct runtime_files *files, unsigned int nr, runtime_file_fn found,
		       void *arg)
{
	struct place *place = &files->place[nr];
	struct dirent *entry;
	int fd;

	place->changed = false;
	if (places[nr].format == RUNTIME_STORAGE) {
		fd = file_open(dirfd(place->dir), places[nr].file);
		if (fd >= 0)
			found(arg, nr, NULL, fd);
		return;
	}
	rewinddir(place->dir);
	while ((entry = readdir(place->dir))) {
		if (!is_id(entry->d_name))
			continue;
		if (files->nr_pending == MAX_PENDING)
			pending_try(files, found, arg);
		pending_add(files, nr, entry->d_name);
	}
}

static void handle(struct runtime_files *files, unsigned int nr, const struct inotify_event *event,
		   runtime_file_fn found, void *arg)
{
	struct place *place = &files->place[nr];
	bool list = places[nr].format == RUNTIME_STORAGE;

	if (event->mask & IN_Q_OVERFLOW) {
		place->changed = place->dir;
		return;
	}
	if (event->wd != place->watch || place->watch < 0)
		return;
	if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED))
		place_leave(place);
	else if (list)
		place->changed |= event->len && !strcmp(event->name, places[nr].file);
	else if (!event->len || !is_id(event->name))
		return;
	else if (event->mask & (IN_CREATE | IN_MOVED_TO))
		pending_add(files, nr, event->name);
	else
		found(arg, nr, event->name, -1);
}

void runtime_files_step(struct runtime_files *files, runtime_file_fn found, void *arg)
{
	char buf[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	uint64_t now = clock_mono_ns();
	ssize_t len;

	while (files->inotify >= 0 && (len = read(files->inotify, buf, sizeof(buf))) > 0)
		for (char *at = buf; at < buf + len;) {
			const struct inotify_event *event = (void *)at;

			for (unsigned int i = 0; i < RUNTIME_NR_PLACES; i++)
				handle(files, i, event, found, arg);
			at += sizeof(*event) + event->len;
		}
	for (unsigned int i = 0; now - files->retry_ns >= RETRY_NS && i < RUNTIME_NR_PLACES; i++)
		if (!files->place[i].dir || files->place[i].watch < 0)
			place_open(files, i);
	if (now - files->retry_ns >= RETRY_NS)
		files->retry_ns = now;
	for (unsigned int i = 0; i < RUNTIME_NR_PLACES; i++)
		if (files->place[i].dir && files->place[i].changed)
			place_scan(files, i, found, arg);
	pending_try(files, found, arg);
}

bool runtime_files_wait(const struct runtime_files *files, int channel)
{
	struct pollfd polled[] = {{.fd = files->inotify, .events = POLLIN}, {.fd = channel}};

	/* A file that is being written is there in some milliseconds. */
	return poll(polled, 2, files->nr_pending ? 20 : RETRY_NS / NSEC_PER_MSEC) < 0 ||
	       !polled[1].revents;
}
