/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the files of container runtimes into tables, one for each place. */
#include "sys/runtime_names.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/file.h"
#include "sys/runtime_files.h"

/* A pod with the environment of thousands of services has 2 MB; larger files are ignored. */
#define FILE_MAX (4 << 20)
/* A machine has a few hundred containers. The limit bounds the memory. */
#define MAX_NAMES 65536
/* Time limit of one refresh: the next window must end in time. */
#define BUDGET_NS (5 * NSEC_PER_MSEC)
/* Timeout for the files that exist at the start. */
#define START_NS (2 * NSEC_PER_SEC)

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

int runtime_names_open(const char *root, int channel, struct runtime_names **ret_names)
{
	struct runtime_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->channel = channel;
	for (int i = 0; i < RUNTIME_NR_PLACES; i++)
		names->said[i].table[RUNTIME_CONTAINERS].renames = true;
	if (channel < 0 && runtime_files_open(root, &names->files)) {
		free(names);
		return -ENOMEM;
	}
	if (channel < 0)
		runtime_files_step(names->files, take, names);
	receive_first(names);
	*ret_names = names;
	return 0;
}

void runtime_names_refresh(struct runtime_names *names)
{
	uint64_t start = clock_mono_ns();

	if (names->files)
		runtime_files_step(names->files, take, names);
	while (names->channel >= 0 && receive(names) && clock_mono_ns() - start < BUDGET_NS)
		;
}

const struct pod_table_names *runtime_names_find(const struct runtime_names *names,
						 enum runtime_key by, const char *key)
{
	const struct pod_table_names *found = NULL;

	for (int i = 0; i < RUNTIME_NR_PLACES && !found; i++)
		found = pod_table_find(&names->said[i].table[by], key);
	return found;
}

bool runtime_names_present(const struct runtime_names *names)
{
	if (names->files)
		return runtime_files_present(names->files);
	for (int i = 0; i < RUNTIME_NR_PLACES; i++)
		if (names->said[i].any)
			return true;
	return false;
}

uint64_t runtime_names_adds(const struct runtime_names *names)
{
	uint64_t adds = 0;

	for (int i = 0; i < RUNTIME_NR_PLACES * RUNTIME_NR_KEYS; i++)
		adds += names->said[i / RUNTIME_NR_KEYS].table[i % RUNTIME_NR_KEYS].adds;
	return adds;
}

void runtime_names_close(struct runtime_names *names)
{
	for (int i = 0; i < RUNTIME_NR_PLACES * RUNTIME_NR_KEYS; i++)
		pod_table_free(&names->said[i / RUNTIME_NR_KEYS].table[i % RUNTIME_NR_KEYS]);
	runtime_files_close(names->files);
	if (names->channel >= 0)
		close(names->channel);
	free(names);
}
