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

/* A pod with the environment of thousands of services has 2 MB; who writes more has no name. */
#define FILE_MAX (4 << 20)
/* A machine has a few hundred containers: whoever makes more of them does not get our memory. */
#define MAX_NAMES 65536
/* Of one refresh, so that the next window ends in time. */
#define BUDGET_NS (5 * NSEC_PER_MSEC)
/* For the files that are there at the start. */
#define START_NS (2 * NSEC_PER_SEC)

/* What one place says. */
struct said {
	struct pod_table containers, pods;
	bool any;
};

struct runtime_names {
	struct said said[RUNTIME_NR_PLACES];
	struct runtime_files *files; /* NULL: they come by the channel */
	int channel;		     /* -1: closed */
};

static void add(void *arg, struct pod_text id, const struct pod_name *name)
{
	struct pod_name pod = {.namespace = name->namespace, .pod = name->pod, .uid = name->uid};
	struct said *said = arg;

	if (said->containers.nr < MAX_NAMES)
		pod_table_add(&said->containers, id, name);
	if (name->uid.len && said->pods.nr < MAX_NAMES)
		pod_table_add(&said->pods, name->uid, &pod);
}

static void gone(struct said *said, struct pod_text id)
{
	const struct pod_table_names *names = pod_table_find(&said->containers, id.at);

	/* A pod ends with the container that holds it together, which has no name. */
	if (names && !*names->container)
		pod_table_leave(&said->pods, (struct pod_text){names->uid, strlen(names->uid)});
	pod_table_leave(&said->containers, id);
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
	if (text && !key.len) {
		pod_table_leave_all(&said->containers);
		pod_table_leave_all(&said->pods);
	}
	if (text)
		runtime_name_parse(runtime_files_format(place), key, text, len, add, said);
	free(text);
}

/* False if there is nothing more for now. */
static bool receive(struct runtime_names *names, bool *ret_all)
{
	struct runtime_message message;
	int rc = runtime_channel_receive(names->channel, &message);

	*ret_all = false;
	if (rc == -EAGAIN)
		return false;
	if (rc == -EBADMSG)
		return true;
	if (rc) {
		close(names->channel);
		names->channel = -1;
		return false;
	}
	*ret_all = message.place == RUNTIME_NR_PLACES;
	if (!*ret_all)
		take(names, message.place, message.id, message.fd);
	return true;
}

/* Everything that is there already, so that the first window has names. */
static void receive_first(struct runtime_names *names)
{
	uint64_t end = clock_mono_ns() + START_NS, now;
	bool all = false;

	while (!all && names->channel >= 0 && (now = clock_mono_ns()) < end) {
		struct pollfd polled = {.fd = names->channel, .events = POLLIN};

		if (!receive(names, &all) && names->channel >= 0)
			poll(&polled, 1, (end - now) / NSEC_PER_MSEC);
	}
}

int runtime_names_open(const char *root, int channel, struct runtime_names **ret_names)
{
	struct runtime_names *names = calloc(1, sizeof(*names));
	int rc;

	if (!names)
		return -ENOMEM;
	names->channel = channel;
	for (int i = 0; i < RUNTIME_NR_PLACES; i++)
		names->said[i].containers.renames = true;
	if (channel < 0) {
		rc = runtime_files_open(root, &names->files);
		if (rc) {
			free(names);
			return rc;
		}
		runtime_files_step(names->files, take, names);
	} else {
		receive_first(names);
	}
	*ret_names = names;
	return 0;
}

void runtime_names_refresh(struct runtime_names *names)
{
	uint64_t start = clock_mono_ns();
	bool all;

	if (names->files)
		runtime_files_step(names->files, take, names);
	while (names->channel >= 0 && receive(names, &all) && clock_mono_ns() - start < BUDGET_NS)
		;
}

const struct pod_table_names *runtime_names_find(const struct runtime_names *names, const char *id)
{
	const struct pod_table_names *found = NULL;

	for (int i = 0; i < RUNTIME_NR_PLACES && !found; i++)
		found = pod_table_find(&names->said[i].containers, id);
	return found;
}

const struct pod_table_names *runtime_names_find_pod(const struct runtime_names *names,
						     const char *uid)
{
	const struct pod_table_names *found = NULL;

	for (int i = 0; i < RUNTIME_NR_PLACES && !found; i++)
		found = pod_table_find(&names->said[i].pods, uid);
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

size_t runtime_names_count(const struct runtime_names *names)
{
	size_t nr = 0;

	for (int i = 0; i < RUNTIME_NR_PLACES; i++)
		nr += names->said[i].containers.nr;
	return nr;
}

uint64_t runtime_names_adds(const struct runtime_names *names)
{
	uint64_t adds = 0;

	for (int i = 0; i < RUNTIME_NR_PLACES; i++)
		adds += names->said[i].containers.adds + names->said[i].pods.adds;
	return adds;
}

void runtime_names_close(struct runtime_names *names)
{
	if (!names)
		return;
	for (int i = 0; i < RUNTIME_NR_PLACES; i++) {
		pod_table_free(&names->said[i].containers);
		pod_table_free(&names->said[i].pods);
	}
	runtime_files_close(names->files);
	if (names->channel >= 0)
		close(names->channel);
	free(names);
}
