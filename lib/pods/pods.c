/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads names of pods and containers from kubelet's directories and files of container runtimes. */
#include "pods/pods.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"
#include "pods/name.h"
#include "pods/runtime_files.h"
#include "pods/table.h"

/*
 * Maximum size of a runtime's file in bytes; larger files are ignored. The file of a container with
 * environment variables of thousands of services has 2 MB.
 */
#define FILE_MAX (4 << 20)
/* Maximum number of names in a table. A typical machine has a few hundred containers. */
#define MAX_NAMES 65536
/* Time limit of one refresh, so that the next window ends in time. */
#define BUDGET_NS (5 * NSEC_PER_MSEC)
/* Timeout for receiving the files that already exist at the start. */
#define START_NS (2 * NSEC_PER_SEC)
/* Interval of attempts to open or watch a directory. */
#define RETRY_NS (5 * NSEC_PER_SEC)

/* Log directories of kubelet. subtick reads only the names and types of the directory entries. */
enum { LOG_PODS, LOG_CONTAINERS, NR_LOGS };

static const struct {
	const char *path;
	bool (*parse)(const char *file, struct pod_name *ret_name);
	unsigned int type;
} logs[NR_LOGS] = {
	[LOG_PODS] = {"/var/log/pods", pod_name_of_dir, S_IFDIR},
	[LOG_CONTAINERS] = {"/var/log/containers", pod_name_of_link, S_IFLNK},
};

/* Names of containers from one directory or list of a container runtime. */
struct runtime {
	struct pod_table by_id, by_uid;
};

struct pods {
	const char *root;
	int inotify; /* inotify descriptor, or -1 if unavailable */
	uint64_t retry_ns;
	struct watch watch[NR_LOGS];
	struct pod_table log[NR_LOGS]; /* tables of pods by uid and of containers by id */
	struct runtime runtime[RUNTIME_NR_PLACES];
	/* open files of container runtimes; NULL if another process sends files over `channel` */
	struct runtime_files *files;
	int channel;		     /* socket to the helper process, or -1 if closed */
	bool complete;		     /* true if all initial runtime files were received */
	bool received;		     /* true if a runtime file was received over `channel` */
};

static void table_add(struct pod_table *table, struct pod_text key, const struct pod_name *name)
{
	if (key.len && table->nr < MAX_NAMES)
		pod_table_add(table, key, name);
}

static void add(void *arg, struct pod_text id, const struct pod_name *name)
{
	struct pod_name pod = {.namespace = name->namespace, .pod = name->pod, .uid = name->uid};
	struct runtime *runtime = arg;

	table_add(&runtime->by_id, id, name);
	table_add(&runtime->by_uid, name->uid, &pod);
}

static void removed(struct runtime *runtime, struct pod_text id)
{
	const struct pod_table_names *names = pod_table_find(&runtime->by_id, id.at);

	/* Only a sandbox container has no name. The sandbox is removed when the pod ends. */
	if (names && !*names->container)
		pod_table_leave(&runtime->by_uid,
				(struct pod_text){names->uid, strlen(names->uid)});
	pod_table_leave(&runtime->by_id, id);
}

/* Reads a file of a container runtime. @id is NULL or "" for a list of containers. */
static void take(void *arg, unsigned int place, const char *id, int fd)
{
	struct runtime *runtime = &((struct pods *)arg)->runtime[place];
	struct pod_text key = {id, id ? strlen(id) : 0};
	char *text;
	size_t len;

	if (fd < 0) {
		if (key.len)
			removed(runtime, key);
		return;
	}
	text = sys_read_fd(fd, FILE_MAX, &len);
	close(fd);
	if (text && !key.len) {
		pod_table_leave_all(&runtime->by_id);
		pod_table_leave_all(&runtime->by_uid);
	}
	if (text)
		runtime_name_parse(runtime_files_format(place), key, text, len, add, runtime);
	free(text);
}

/* Receives one message of the helper process. Returns false if there is no message. */
static bool receive(struct pods *pods)
{
	struct runtime_message message;
	int rc = runtime_channel_receive(pods->channel, &message);

	if (rc && rc != -EAGAIN && rc != -EBADMSG) {
		close(pods->channel);
		pods->channel = -1;
	}
	if (rc)
		return rc == -EBADMSG;
	if (message.place == RUNTIME_NR_PLACES) {
		pods->complete = true;
		return true;
	}
	pods->received = true;
	take(pods, message.place, message.id, message.fd);
	return true;
}

/* Receives the files that existed at the start, so that the first window has names. */
static void receive_first(struct pods *pods)
{
	uint64_t end = clock_mono_ns() + START_NS, now;

	while (!pods->complete && pods->channel >= 0 && (now = clock_mono_ns()) < end) {
		struct pollfd polled = {.fd = pods->channel, .events = POLLIN};

		if (!receive(pods) && pods->channel >= 0)
			poll(&polled, 1, (end - now) / NSEC_PER_MSEC);
	}
}

static struct pod_text key_of(const struct pod_name *name)
{
	return name->uid.len ? name->uid : name->id;
}

static void log_take(struct pods *pods, int log, const char *file)
{
	struct pod_name name;
	struct stat entry;

	if (logs[log].parse(file, &name) &&
	    !fstatat(dirfd(pods->watch[log].dir), file, &entry, AT_SYMLINK_NOFOLLOW) &&
	    (entry.st_mode & S_IFMT) == logs[log].type)
		table_add(&pods->log[log], key_of(&name), &name);
}

static void log_scan(struct pods *pods, int log)
{
	struct dirent *entry;

	pod_table_leave_all(&pods->log[log]);
	rewinddir(pods->watch[log].dir);
	while ((entry = readdir(pods->watch[log].dir)))
		log_take(pods, log, entry->d_name);
}

int pods_open(const char *root, int channel, struct pods **ret_pods)
{
	struct pods *pods = calloc(1, sizeof(*pods));

	if (!pods)
		return -ENOMEM;
	pods->root = root;
	pods->channel = channel;
	for (int i = 0; i < RUNTIME_NR_PLACES; i++)
		pods->runtime[i].by_id.renames = true;
	if (channel < 0 && runtime_files_open(root, &pods->files)) {
		free(pods);
		return -ENOMEM;
	}
	if (pods->files)
		runtime_files_step(pods->files, take, pods);
	receive_first(pods);
	pods->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	pods_retry(pods);
	*ret_pods = pods;
	return 0;
}

void pods_close(struct pods *pods)
{
	if (!pods)
		return;
	for (int i = 0; i < NR_LOGS; i++) {
		watch_close(&pods->watch[i]);
		pod_table_free(&pods->log[i]);
	}
	for (int i = 0; i < RUNTIME_NR_PLACES; i++) {
		pod_table_free(&pods->runtime[i].by_id);
		pod_table_free(&pods->runtime[i].by_uid);
	}
	runtime_files_close(pods->files);
	if (pods->channel >= 0)
		close(pods->channel);
	if (pods->inotify >= 0)
		close(pods->inotify);
	free(pods);
}

static void handle(void *arg, const struct inotify_event *event)
{
	struct pods *pods = arg;

	for (int i = 0; i < NR_LOGS; i++) {
		struct watch *watch = &pods->watch[i];
		struct pod_name name;

		if (event->mask & IN_Q_OVERFLOW && watch->dir)
			log_scan(pods, i);
		if (event->mask & IN_Q_OVERFLOW || !watch_is(watch, event))
			continue;
		if (event->mask & WATCH_OVER)
			watch_close(watch);
		else if (event->mask & WATCH_NEW && event->len)
			log_take(pods, i, event->name);
		else if (event->len && logs[i].parse(event->name, &name))
			pod_table_leave(&pods->log[i], key_of(&name));
	}
}

void pods_retry(struct pods *pods)
{
	pods->retry_ns = clock_mono_ns();
	for (int i = 0; i < NR_LOGS; i++) {
		struct watch *watch = &pods->watch[i];

		if ((!watch->dir || watch->wd < 0) &&
		    watch_open(watch, pods->inotify, pods->root, logs[i].path))
			log_scan(pods, i);
	}
}

void pods_refresh(struct pods *pods)
{
	uint64_t start = clock_mono_ns();

	if (!pods)
		return;
	watch_events(pods->inotify, handle, pods);
	if (start - pods->retry_ns >= RETRY_NS)
		pods_retry(pods);
	if (pods->files)
		runtime_files_step(pods->files, take, pods);
	while (pods->channel >= 0 && receive(pods) && clock_mono_ns() - start < BUDGET_NS)
		;
}

uint64_t pods_generation(const struct pods *pods)
{
	uint64_t adds = pods ? pods->log[LOG_PODS].adds + pods->log[LOG_CONTAINERS].adds : 0;

	for (int i = 0; pods && i < RUNTIME_NR_PLACES; i++)
		adds += pods->runtime[i].by_id.adds + pods->runtime[i].by_uid.adds;
	return adds;
}

/* Finds names of pods and containers in kubelet's log directories. */
static void find_logs(const struct pods *pods, const char *uid, const char *id,
		      struct pods_names *names)
{
	const struct pod_table_names *pod, *container;

	pod = uid ? pod_table_find(&pods->log[LOG_PODS], uid) : NULL;
	container = id ? pod_table_find_id(&pods->log[LOG_CONTAINERS], id, pod) : NULL;
	/* Ignore a container's log link if the pod's log directory names another pod. */
	if (container && pod && (strcmp(pod->namespace, container->namespace) ||
				 strcmp(pod->pod, container->pod)))
		container = NULL;
	if (container)
		names->container = container->container;
	pod = container ?: pod;
	if (pod) {
		names->namespace = pod->namespace;
		names->pod = pod->pod;
	}
}

/* Finds the names of container @id, or else of pod @uid, in the files of runtimes. */
static const struct pod_table_names *find_runtime(const struct pods *pods, const char *uid,
						  const char *id)
{
	const struct pod_table_names *found = NULL;

	for (int i = 0; i < RUNTIME_NR_PLACES && !found && id; i++)
		found = pod_table_find(&pods->runtime[i].by_id, id);
	/* Ignore the names of a container whose pod is not the pod of the cgroup. */
	if (found && uid && *found->uid && strcmp(found->uid, uid))
		found = NULL;
	for (int i = 0; i < RUNTIME_NR_PLACES && !found && uid; i++)
		found = pod_table_find(&pods->runtime[i].by_uid, uid);
	return found;
}

/* Sets *@name to @second, unless @second is empty. Returns false if the names differ. */
static bool agree(const char **name, const char *second)
{
	if (*second && *name && strcmp(*name, second))
		return false;
	if (*second)
		*name = second;
	return true;
}

bool pods_find(const struct pods *pods, const char *uid, const char *id,
	       struct pods_names *ret_names)
{
	const struct pod_table_names *second;

	*ret_names = (struct pods_names){0};
	if (!pods)
		return false;
	find_logs(pods, uid, id, ret_names);
	second = find_runtime(pods, uid, id);
	if (second && (!agree(&ret_names->namespace, second->namespace) ||
		       !agree(&ret_names->pod, second->pod) ||
		       !agree(&ret_names->container, second->container)))
		*ret_names = (struct pods_names){0};
	else if (second && *second->image)
		ret_names->image = second->image;
	return ret_names->namespace || ret_names->container;
}

bool pods_present(const struct pods *pods)
{
	return pods && (pods->watch[LOG_PODS].dir || pods->watch[LOG_CONTAINERS].dir ||
			(pods->files ? runtime_files_present(pods->files) : pods->received));
}
