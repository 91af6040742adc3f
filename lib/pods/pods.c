/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names from the directories of kubelet and from the files of container runtimes. */
#include "pods/pods.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "pods/name.h"
#include "pods/runtime_files.h"
#include "pods/table.h"
#include "host/file.h"

/* A pod with the environment of thousands of services has 2 MB; larger files are ignored. */
#define FILE_MAX (4 << 20)
/* A machine has a few hundred containers. The limit bounds the memory. */
#define MAX_NAMES 65536
/* Time limit of one refresh: the next window must end in time. */
#define BUDGET_NS (5 * NSEC_PER_MSEC)
/* Timeout for the files that exist at the start. */
#define START_NS (2 * NSEC_PER_SEC)

enum runtime_key {
	RUNTIME_CONTAINERS, /* by id */
	RUNTIME_PODS,	    /* by uid */
	RUNTIME_NR_KEYS,
};

/* Names from one place. */
struct said {
	struct pod_table table[RUNTIME_NR_KEYS];
	bool any;
};

struct runtime_names {
	struct said said[RUNTIME_NR_PLACES];
	struct runtime_files *files; /* NULL: files come by the channel */
	int channel;		     /* -1: closed */
	bool complete; /* all files that existed at the start were received */
};

static void add(void *arg, struct pod_text id, const struct pod_name *name)
{
	struct pod_name pod = {.namespace = name->namespace, .pod = name->pod, .uid = name->uid};
	struct said *said = arg;

	if (said->table[RUNTIME_CONTAINERS].nr < MAX_NAMES)
		pod_table_add(&said->table[RUNTIME_CONTAINERS], id, name);
	if (name->uid.len && said->table[RUNTIME_PODS].nr < MAX_NAMES)
		pod_table_add(&said->table[RUNTIME_PODS], name->uid, &pod);
}

static void gone(struct said *said, struct pod_text id)
{
	struct pod_table *containers = &said->table[RUNTIME_CONTAINERS];
	const struct pod_table_names *names = pod_table_find(containers, id.at);

	/* A pod ends with its sandbox container, which has no name. */
	if (names && !*names->container)
		pod_table_leave(&said->table[RUNTIME_PODS],
				(struct pod_text){names->uid, strlen(names->uid)});
	pod_table_leave(containers, id);
}

/* @id is NULL or "" for a list. */
static void take(void *arg, unsigned int place, const char *id, int fd)
{
	struct runtime_names *names = arg;
	struct said *said = &names->said[place];
	struct pod_text key = {id, id ? strlen(id) : 0};
	char *text;
	size_t len;

	said->any = true;
	if (fd < 0) {
		if (key.len)
			gone(said, key);
		return;
	}
	text = sys_read_fd(fd, FILE_MAX, &len);
	close(fd);
	for (int i = 0; text && !key.len && i < RUNTIME_NR_KEYS; i++)
		pod_table_leave_all(&said->table[i]);
	if (text)
		runtime_name_parse(runtime_files_format(place), key, text, len, add, said);
	free(text);
}

/* False if no message is left. */
static bool receive(struct runtime_names *names)
{
	struct runtime_message message;
	int rc = runtime_channel_receive(names->channel, &message);

	if (rc == -EAGAIN)
		return false;
	if (rc == -EBADMSG)
		return true;
	if (rc) {
		close(names->channel);
		names->channel = -1;
		return false;
	}
	if (message.place == RUNTIME_NR_PLACES)
		names->complete = true;
	else
		take(names, message.place, message.id, message.fd);
	return true;
}

/* Receives all files that exist at the start, so that the first window has names. */
static void receive_first(struct runtime_names *names)
{
	uint64_t end = clock_mono_ns() + START_NS, now;

	while (!names->complete && names->channel >= 0 && (now = clock_mono_ns()) < end) {
		struct pollfd polled = {.fd = names->channel, .events = POLLIN};

		if (!receive(names) && names->channel >= 0)
			poll(&polled, 1, (end - now) / NSEC_PER_MSEC);
	}
}

/* Owns @channel (pods/runtime_files.h). -1: opens the files below @root. 0 or -ENOMEM. */
static int runtime_names_open(struct runtime_names *names, const char *root, int channel)
{
	names->channel = channel;
	for (int i = 0; i < RUNTIME_NR_PLACES; i++)
		names->said[i].table[RUNTIME_CONTAINERS].renames = true;
	if (channel < 0) {
		if (runtime_files_open(root, &names->files))
			return -ENOMEM;
		runtime_files_step(names->files, take, names);
	}
	receive_first(names);
	return 0;
}

/* Reads what has changed, for at most 5 ms; the next call reads the rest. */
static void runtime_names_refresh(struct runtime_names *names)
{
	uint64_t start = clock_mono_ns();

	if (names->files)
		runtime_files_step(names->files, take, names);
	while (names->channel >= 0 && receive(names) && clock_mono_ns() - start < BUDGET_NS)
		;
}

/* Names of the container or pod with @key, valid until the next refresh; NULL if unknown. */
static const struct pod_table_names *
runtime_names_find(const struct runtime_names *names, enum runtime_key by, const char *key)
{
	const struct pod_table_names *found = NULL;

	for (int i = 0; i < RUNTIME_NR_PLACES && !found; i++)
		found = pod_table_find(&names->said[i].table[by], key);
	return found;
}

/* True if a directory of a runtime exists. */
static bool runtime_names_present(const struct runtime_names *names)
{
	if (names->files)
		return runtime_files_present(names->files);
	for (int i = 0; i < RUNTIME_NR_PLACES; i++)
		if (names->said[i].any)
			return true;
	return false;
}

/* Number of names that were added, repeated ones included. */
static uint64_t runtime_names_adds(const struct runtime_names *names)
{
	uint64_t adds = 0;

	for (int i = 0; i < RUNTIME_NR_PLACES * RUNTIME_NR_KEYS; i++)
		adds += names->said[i / RUNTIME_NR_KEYS].table[i % RUNTIME_NR_KEYS].adds;
	return adds;
}

static void runtime_names_close(struct runtime_names *names)
{
	for (int i = 0; i < RUNTIME_NR_PLACES * RUNTIME_NR_KEYS; i++)
		pod_table_free(&names->said[i / RUNTIME_NR_KEYS].table[i % RUNTIME_NR_KEYS]);
	runtime_files_close(names->files);
	if (names->channel >= 0)
		close(names->channel);
}

/* Interval of attempts to open a missing directory, or to watch one. */
#define RETRY_NS (5 * NSEC_PER_SEC)

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
	struct runtime_names runtimes;
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

static void place_take(struct place *place, const char *file)
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
		place_take(place, entry->d_name);
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
	if (runtime_names_open(&pods->runtimes, root, channel)) {
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
	runtime_names_close(&pods->runtimes);
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
			place_take(place, event->name);
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
	runtime_names_refresh(&pods->runtimes);
}

uint64_t pods_news(const struct pods *pods)
{
	return pods ? pods->place[PODS].table.adds + pods->place[CONTAINERS].table.adds +
			       runtime_names_adds(&pods->runtimes)
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
	said = id ? runtime_names_find(&pods->runtimes, RUNTIME_CONTAINERS, id) : NULL;
	/* A container of another pod than the cgroup's is another container. */
	if (said && uid && *said->uid && strcmp(said->uid, uid))
		said = NULL;
	if (!said && uid)
		said = runtime_names_find(&pods->runtimes, RUNTIME_PODS, uid);
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
			runtime_names_present(&pods->runtimes));
}
