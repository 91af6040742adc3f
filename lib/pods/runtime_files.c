/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Watches the directories of container runtimes. Opens only regular files, and follows no links. */
#include "pods/runtime_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"

/* Interval of attempts to open a missing directory or file. */
#define RETRY_NS (NSEC_PER_SEC / 2)
/*
 * Time to wait for the file of a new container. A container runtime writes the file right after it
 * creates the container's directory.
 */
#define PATIENCE_NS (10 * NSEC_PER_SEC)
#define MAX_PENDING 1024
/* Maximum number of docker containers that are watched for renames. */
#define MAX_FOLLOWED 4096

/* containerd, docker: a directory per container. podman, CRI-O: one file with all containers. */
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
	struct watch watch;
	bool changed; /* true if the directory must be scanned again */
};

struct container {
	unsigned int place;
	char id[RUNTIME_ID_LEN + 1];
	uint64_t since_ns; /* pending containers: time when the container's directory appeared */
	int wd;		   /* followed containers: inotify watch of the container's directory */
};

struct runtime_files {
	char *root;
	int inotify; /* inotify descriptor, or -1 if unavailable */
	uint64_t retry_ns;
	struct place place[RUNTIME_NR_PLACES];
	struct container pending[MAX_PENDING]; /* containers whose file is missing or incomplete */
	size_t nr_pending;
	/* containers whose directory is watched for renames */
	struct container followed[MAX_FOLLOWED];
	size_t nr_followed;
	runtime_file_fn found; /* callback of the current call of runtime_files_step() */
	void *arg;
};

enum runtime_format runtime_files_format(unsigned int place)
{
	return places[place].format;
}

static bool is_id(const char *name)
{
	return pod_name_is_id((struct pod_text){name, strnlen(name, RUNTIME_ID_LEN + 1)});
}

/* Opens directories that are missing or not watched. */
static void dirs_open(struct runtime_files *files)
{
	files->retry_ns = clock_mono_ns();
	for (unsigned int i = 0; i < RUNTIME_NR_PLACES; i++) {
		struct place *place = &files->place[i];

		if (!place->watch.dir || place->watch.wd < 0)
			place->changed = watch_open(&place->watch, files->inotify, files->root,
						    places[i].path);
	}
}

int runtime_files_open(const char *root, struct runtime_files **ret_files)
{
	struct runtime_files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	files->root = strdup(root ? root : "");
	if (!files->root) {
		free(files);
		return -ENOMEM;
	}
	files->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	dirs_open(files);
	*ret_files = files;
	return 0;
}

void runtime_files_close(struct runtime_files *files)
{
	if (!files)
		return;
	for (unsigned int i = 0; i < RUNTIME_NR_PLACES; i++)
		watch_close(&files->place[i].watch);
	if (files->inotify >= 0)
		close(files->inotify);
	free(files->root);
	free(files);
}

bool runtime_files_present(const struct runtime_files *files)
{
	for (unsigned int i = 0; i < RUNTIME_NR_PLACES; i++)
		if (files->place[i].watch.dir)
			return true;
	return false;
}

/*
 * Adds a container to files->pending. If files->pending is full, removes the oldest container,
 * whose file is the least likely to appear.
 */
static void pending_add(struct runtime_files *files, unsigned int place, const char *id)
{
	struct container *pending;

	if (files->nr_pending == MAX_PENDING)
		memmove(files->pending, files->pending + 1,
			--files->nr_pending * sizeof(files->pending[0]));
	pending = &files->pending[files->nr_pending++];
	*pending = (struct container){.since_ns = clock_mono_ns(), .place = place};
	memcpy(pending->id, id, RUNTIME_ID_LEN);
}

/* Opens a regular file that looks complete, or returns -1. O_NONBLOCK avoids waiting on a FIFO. */
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

static int container_open(const struct runtime_files *files, const struct container *container)
{
	DIR *dir = files->place[container->place].watch.dir;
	int inner, fd;

	inner = dir ? openat(dirfd(dir), container->id,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		    : -1;
	if (inner < 0)
		return -1;
	fd = file_open(inner, places[container->place].file);
	close(inner);
	return fd;
}

/* Watches the directory of a docker container, because docker rewrites the file on a rename. */
static void follow(struct runtime_files *files, const struct container *container)
{
	const char *below = SYS_PATH("%s/%s", places[container->place].path, container->id);
	char path[PATH_MAX];
	int wd;

	if (places[container->place].format != RUNTIME_DOCKER || files->inotify < 0 ||
	    files->nr_followed == MAX_FOLLOWED || sys_path(files->root, below, path, sizeof(path)))
		return;
	wd = inotify_add_watch(files->inotify, path, IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW);
	/* For a watched directory inotify_add_watch() returns the existing watch descriptor. */
	for (size_t i = 0; i < files->nr_followed; i++)
		if (files->followed[i].wd == wd)
			return;
	if (wd < 0)
		return;
	files->followed[files->nr_followed] = *container;
	files->followed[files->nr_followed++].wd = wd;
}

static void handle_followed(struct runtime_files *files, const struct inotify_event *event)
{
	for (size_t i = 0; i < files->nr_followed; i++) {
		struct container *followed = &files->followed[i];

		if (followed->wd != event->wd)
			continue;
		if (event->mask & IN_IGNORED)
			*followed = files->followed[--files->nr_followed];
		else if (event->len && !strcmp(event->name, places[followed->place].file))
			pending_add(files, followed->place, followed->id);
		return;
	}
}

/* Passes a container's file to files->found. Returns false if the file is missing or incomplete. */
static bool container_found(struct runtime_files *files, const struct container *container)
{
	int fd = container_open(files, container);

	if (fd < 0)
		return false;
	follow(files, container);
	files->found(files->arg, container->place, container->id, fd);
	return true;
}

static void pending_try(struct runtime_files *files)
{
	uint64_t now = clock_mono_ns();
	size_t kept = 0;

	for (size_t i = 0; i < files->nr_pending; i++)
		if (!container_found(files, &files->pending[i]) &&
		    now - files->pending[i].since_ns < PATIENCE_NS)
			files->pending[kept++] = files->pending[i];
	files->nr_pending = kept;
}

static void place_scan(struct runtime_files *files, unsigned int nr)
{
	struct place *place = &files->place[nr];
	struct dirent *entry;
	int fd;

	place->changed = false;
	if (places[nr].format == RUNTIME_STORAGE) {
		fd = file_open(dirfd(place->watch.dir), places[nr].file);
		if (fd >= 0)
			files->found(files->arg, nr, NULL, fd);
		return;
	}
	rewinddir(place->watch.dir);
	while ((entry = readdir(place->watch.dir))) {
		struct container container = {.place = nr};

		if (!is_id(entry->d_name))
			continue;
		memcpy(container.id, entry->d_name, RUNTIME_ID_LEN);
		if (!container_found(files, &container))
			pending_add(files, nr, entry->d_name);
	}
}

static void handle_at(struct runtime_files *files, unsigned int nr,
		      const struct inotify_event *event)
{
	struct place *place = &files->place[nr];
	bool list = places[nr].format == RUNTIME_STORAGE;

	if (event->mask & IN_Q_OVERFLOW) {
		place->changed = place->watch.dir;
		return;
	}
	if (!watch_is(&place->watch, event))
		return;
	if (event->mask & WATCH_OVER)
		watch_close(&place->watch);
	else if (list)
		place->changed |= event->len && !strcmp(event->name, places[nr].file);
	else if (!event->len || !is_id(event->name))
		return;
	else if (event->mask & WATCH_NEW)
		pending_add(files, nr, event->name);
	else
		files->found(files->arg, nr, event->name, -1);
}

static void handle(void *arg, const struct inotify_event *event)
{
	for (unsigned int i = 0; i < RUNTIME_NR_PLACES; i++)
		handle_at(arg, i, event);
	handle_followed(arg, event);
}

void runtime_files_step(struct runtime_files *files, runtime_file_fn found, void *arg)
{
	files->found = found;
	files->arg = arg;
	watch_events(files->inotify, handle, files);
	if (clock_mono_ns() - files->retry_ns >= RETRY_NS)
		dirs_open(files);
	for (unsigned int i = 0; i < RUNTIME_NR_PLACES; i++)
		if (files->place[i].watch.dir && files->place[i].changed)
			place_scan(files, i);
	pending_try(files);
}

bool runtime_files_wait(const struct runtime_files *files, int channel)
{
	struct pollfd polled[] = {{.fd = files->inotify, .events = POLLIN}, {.fd = channel}};
	size_t nr = files->nr_pending;
	/*
	 * A container's file appears some milliseconds after its directory. The last element of
	 * files->pending is the newest container.
	 */
	bool soon = nr && clock_mono_ns() - files->pending[nr - 1].since_ns < 2 * RETRY_NS;

	return poll(polled, 2, soon ? 20 : RETRY_NS / NSEC_PER_MSEC) < 0 ||
	       !polled[1].revents;
}

struct wire {
	uint32_t place;
	uint32_t has_file;
	char id[RUNTIME_ID_LEN];
};

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int runtime_channel_send(int channel, unsigned int place, const char *id, int fd)
{
	struct wire wire = {.place = place, .has_file = fd >= 0};
	struct iovec data = {&wire, sizeof(wire)};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	union control control = {{0}};
	ssize_t sent;

	if (id)
		memcpy(wire.id, id, sizeof(wire.id));
	if (fd >= 0) {
		struct cmsghdr *header = &control.align;

		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	do
		sent = sendmsg(channel, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

int runtime_channel_receive(int channel, struct runtime_message *ret_message)
{
	struct wire wire;
	struct iovec data = {&wire, sizeof(wire)};
	union control control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	ssize_t got = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = got >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
	int fd = -1;

	if (got < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (!got)
		return -EPIPE;
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	/* The kernel drops the descriptor if this process has too many open files. */
	if (got != sizeof(wire) || wire.place > RUNTIME_NR_PLACES || !wire.has_file != (fd < 0)) {
		if (fd >= 0)
			close(fd);
		return -EBADMSG;
	}
	*ret_message = (struct runtime_message){.place = wire.place, .fd = fd};
	memcpy(ret_message->id, wire.id, sizeof(wire.id));
	return 0;
}
