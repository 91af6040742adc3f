/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows kubelet's directories of logs, and keeps the names in tables by uid and by id. */
#include "sys/pods.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/file.h"
#include "sys/pod_name.h"
#include "sys/pod_table.h"
#include "sys/runtime_names.h"

/* Interval of attempts to open a missing directory, or to watch one. */
#define RETRY_NS (5 * NSEC_PER_SEC)
/* A machine has a few hundred. The limit bounds the memory. */
#define MAX_NAMES 65536

enum {
	PODS,
	CONTAINERS,
	NR_PLACES,
};

/* One of the two directories. */
struct place {
	const char *path;
	bool (*parse)(const char *file, struct pod_name *ret_name);
	unsigned int type; /* of the entries that count: S_IFDIR, S_IFLNK */
	struct pod_table table;
	struct watch watch;
};

struct pods {
	const char *root;
	int inotify; /* -1: unavailable */
	uint64_t retry_ns;
	struct place place[NR_PLACES];
	struct runtime_names *runtimes;
};

static struct pod_text key_of(const struct pod_name *name)
{
	return name->uid.len ? name->uid : name->id;
}

/* Entries are never opened: only their names and types count. */
static bool right_type(const struct place *place, const char *file)
{
	struct stat entry;

	return !fstatat(dirfd(place->watch.dir), file, &entry, AT_SYMLINK_NOFOLLOW) &&
	       (entry.st_mode & S_IFMT) == place->type;
}

static void take(struct place *place, const char *file)
{
	struct pod_name name;

	if (place->parse(file, &name) && place->table.nr < MAX_NAMES && right_type(place, file))
		pod_table_add(&place->table, key_of(&name), &name);
}

static void scan(struct place *place)
{
	struct dirent *entry;

	pod_table_leave_all(&place->table);
	rewinddir(place->watch.dir);
	while ((entry = readdir(place->watch.dir)))
		take(place, entry->d_name);
}

static void place_open(struct pods *pods, struct place *place)
{
	watch_close(&place->watch);
	if (watch_open(&place->watch, pods->inotify, pods->root, place->path))
		scan(place);
}

int pods_open(const char *root, int channel, struct pods **ret_pods)
{
	struct pods *pods = calloc(1, sizeof(*pods));

	if (!pods)
		return -ENOMEM;
	pods->root = root;
	if (runtime_names_open(root, channel, &pods->runtimes)) {
		free(pods);
		return -ENOMEM;
	}
	pods->place[PODS] =
		(struct place){.path = "/var/log/pods", .parse = pod_name_of_dir, .type = S_IFDIR};
	pods->place[CONTAINERS] = (struct place){
		.path = "/var/log/containers", .parse = pod_name_of_link, .type = S_IFLNK};
	pods->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	pods_retry(pods);
	*ret_pods = pods;
	return 0;
}

void pods_close(struct pods *pods)
{
	if (!pods)
		return;
	for (int i = 0; i < NR_PLACES; i++) {
		watch_close(&pods->place[i].watch);
		pod_table_free(&pods->place[i].table);
	}
	runtime_names_close(pods->runtimes);
	if (pods->inotify >= 0)
		close(pods->inotify);
	free(pods);
}

static void handle(void *arg, const struct inotify_event *event)
{
	struct pods *pods = arg;

	for (int i = 0; i < NR_PLACES; i++) {
		struct place *place = &pods->place[i];
		struct pod_name name;

		if (event->mask & IN_Q_OVERFLOW && place->watch.dir)
			scan(place);
		if (event->mask & IN_Q_OVERFLOW || !watch_is(&place->watch, event))
			continue;
		if (event->mask & WATCH_OVER)
			watch_close(&place->watch);
		else if (event->mask & WATCH_NEW && event->len)
			take(place, event->name);
		else if (event->len && place->parse(event->name, &name))
			pod_table_leave(&place->table, key_of(&name));
	}
}

void pods_retry(struct pods *pods)
{
	pods->retry_ns = clock_mono_ns();
	for (int i = 0; i < NR_PLACES; i++)
		if (!pods->place[i].watch.dir || pods->place[i].watch.wd < 0)
			place_open(pods, &pods->place[i]);
}

void pods_refresh(struct pods *pods)
{
	if (!pods)
		return;
	watch_events(pods->inotify, handle, pods);
	if (clock_mono_ns() - pods->retry_ns >= RETRY_NS)
		pods_retry(pods);
	runtime_names_refresh(pods->runtimes);
}

uint64_t pods_news(const struct pods *pods)
{
	return pods ? pods->place[PODS].table.adds + pods->place[CONTAINERS].table.adds +
			       runtime_names_adds(pods->runtimes)
		    : 0;
}

/* Names by kubelet's directories. */
static void find_logs(const struct pods *pods, const char *uid, const char *id,
		      struct pods_names *names)
{
	const struct pod_table_names *pod, *container;

	pod = uid ? pod_table_find(&pods->place[PODS].table, uid) : NULL;
	container = id ? pod_table_find_id(&pods->place[CONTAINERS].table, id, pod) : NULL;
	if (pod) {
		names->namespace = pod->namespace;
		names->pod = pod->pod;
	}
	/* A link that contradicts the pod's directory belongs to another container. */
	if (!container || (pod && (strcmp(pod->namespace, container->namespace) ||
				   strcmp(pod->pod, container->pod))))
		return;
	names->namespace = container->namespace;
	names->pod = container->pod;
	names->container = container->container;
}

/* Takes a name from a second source. False if it contradicts the first source. */
static bool agree(const char **name, const char *said)
{
	if (*said && *name && strcmp(*name, said))
		return false;
	if (*said)
		*name = said;
	return true;
}

bool pods_find(const struct pods *pods, const char *uid, const char *id,
	       struct pods_names *ret_names)
{
	const struct pod_table_names *said;

	*ret_names = (struct pods_names){0};
	if (!pods)
		return false;
	find_logs(pods, uid, id, ret_names);
	said = id ? runtime_names_find(pods->runtimes, RUNTIME_CONTAINERS, id) : NULL;
	/* A container of another pod than the cgroup's is another container. */
	if (said && uid && *said->uid && strcmp(said->uid, uid))
		said = NULL;
	if (!said && uid)
		said = runtime_names_find(pods->runtimes, RUNTIME_PODS, uid);
	if (said &&
	    (!agree(&ret_names->namespace, said->namespace) || !agree(&ret_names->pod, said->pod) ||
	     !agree(&ret_names->container, said->container)))
		*ret_names = (struct pods_names){0};
	else if (said && *said->image)
		ret_names->image = said->image;
	return ret_names->namespace || ret_names->container;
}

bool pods_present(const struct pods *pods)
{
	return pods && (pods->place[PODS].watch.dir || pods->place[CONTAINERS].watch.dir ||
			runtime_names_present(pods->runtimes));
}
