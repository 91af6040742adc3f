/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses /proc/self/mountinfo; finds tracefs; creates and removes trace instances. */
#include "host/mountinfo.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "host/file.h"

/* Copies a field. In mountinfo blank, tab, newline, backslash and # are written as \ooo. */
static int mount_text(const char *field, char *buf, size_t size)
{
	size_t len = 0;

	if (!field || !*field)
		return -EINVAL;
	for (; *field; field++) {
		int c = *field;

		if (c == '\\') {
			if (strspn(field + 1, "01234567") < 3)
				return -EINVAL;
			c = (field[1] - '0') << 6 | (field[2] - '0') << 3 | (field[3] - '0');
			if (!c || c > 0xff)
				return -EINVAL;
			field += 3;
		}
		if (len + 1 >= size)
			return -ENAMETOOLONG;
		buf[len++] = (char)c;
	}
	buf[len] = '\0';
	return 0;
}

static int mount_parse_line(char *line, struct mount *mount)
{
	const char *field;
	int rc;

	for (int i = 0; i < 3; i++) /* skip mount id, parent id, device */
		strsep(&line, " ");
	rc = mount_text(strsep(&line, " "), mount->root, sizeof(mount->root))
		     ?: mount_text(strsep(&line, " "), mount->point, sizeof(mount->point));
	if (rc)
		return rc;
	/* In mountinfo a field "-" follows the mount options and the optional fields. */
	do
		field = strsep(&line, " ");
	while (field && strcmp(field, "-"));
	rc = mount_text(strsep(&line, " "), mount->fstype, sizeof(mount->fstype));
	/* The mount source may be an empty field. */
	strsep(&line, " ");
	field = strsep(&line, " ");
	if (rc || !field || !*field)
		return rc ?: -EINVAL;
	/* Long options are truncated, for example the list of layers of an overlay file system. */
	snprintf(mount->options, sizeof(mount->options), "%s", field);
	return 0;
}

int mountinfo_parse(const char *text, size_t len, mountinfo_fn fn, void *arg)
{
	struct mount *mount = malloc(sizeof(*mount));
	char *copy = strndup(text, len), *rest = copy, *line;
	int rc = !mount || !copy ? -ENOMEM : memchr(text, '\0', len) ? -EINVAL : 0;

	while (!rc && *rest) {
		line = strsep(&rest, "\n");
		/* The last line of a truncated text has no newline. */
		rc = rest ? mount_parse_line(line, mount) : -EINVAL;
		if (!rc)
			rc = fn(mount, arg);
	}
	free(copy);
	free(mount);
	return rc;
}

int mountinfo_each(const char *root, mountinfo_fn fn, void *arg)
{
	struct sys_text text;
	int rc = sys_text_open(&text, root, "/proc/self/mountinfo", 16384);

	if (rc)
		return rc;
	rc = sys_text_read(&text, false);
	if (!rc)
		rc = mountinfo_parse(text.buf, text.len, fn, arg);
	sys_text_close(&text);
	return rc;
}

struct mount_search {
	const char *fstype, *option;
	struct mount *found;
};

static int mount_match(const struct mount *mount, void *arg)
{
	struct mount_search *search = arg;

	if (strcmp(mount->fstype, search->fstype) ||
	    (search->option && !mount_has_option(mount->options, search->option)))
		return 0;
	*search->found = *mount;
	return 1;
}

int mountinfo_find(const char *root, const char *fstype, const char *option,
		   struct mount *ret_mount)
{
	struct mount_search search = {fstype, option, ret_mount};
	int rc = mountinfo_each(root, mount_match, &search);

	return rc > 0 ? 0 : rc ?: -ENOENT;
}

bool mount_has_option(const char *options, const char *word)
{
	size_t len = strlen(word);

	for (;;) {
		if (!strncmp(options, word, len) && (!options[len] || options[len] == ','))
			return true;
		options = strchr(options, ',');
		if (!options)
			return false;
		options++;
	}
}

#define BUFFER_KB    "64"
#define REMOVE_TRIES 200 /* number of attempts to remove a trace instance, 10 ms apart */

int tracefs_find(const char *root, char *buf, size_t size)
{
	/* The first access to the debugfs path mounts tracefs there. */
	static const char *const usual[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	struct mount mount;
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (sys_exists(root, SYS_PATH("%s/events", usual[i]))) {
			snprintf(buf, size, "%s", usual[i]);
			return 0;
		}
	rc = mountinfo_find(root, "tracefs", NULL, &mount);
	if (!rc && snprintf(buf, size, "%s", mount.point) >= (int)size)
		rc = -ENAMETOOLONG;
	return rc;
}

int tracefs_root(char *root, size_t size, struct err *err)
{
	if (!tracefs_find(NULL, root, size) && sys_exists(NULL, SYS_PATH("%s/events", root)))
		return 0;
	if (geteuid())
		return err_unsupported(err, -EACCES, "run as root",
				       "this user may not access tracefs");
	return err_unsupported(err, -ENOENT, "mount -t tracefs tracefs /sys/kernel/tracing",
			       "tracefs is not mounted, or this kernel has no CONFIG_TRACING");
}

bool tracefs_has_event(const char *root, const char *group, const char *event)
{
	return sys_exists(NULL, SYS_PATH("%s/events/%s/%s", root, group, event));
}

static int check_unused(const char *dir, const char *group, struct err *err)
{
	char text[32];

	if (sys_read_file(NULL, SYS_PATH("%s/events/%s/enable", dir, group), text, sizeof(text)) < 0 ||
	    !strcmp(text, "0"))
		return 0;
	return err_set(
		err, -EBUSY,
		"events %s are already enabled in %.100s: end the program that traces these events",
		group, dir);
}

int tracefs_group_unused(const char *root, const char *group, struct err *err)
{
	char tracer[64];
	struct dirent *entry;
	DIR *instances;
	int rc = check_unused(root, group, err);

	if (rc)
		return rc;
	if (sys_read_file(NULL, SYS_PATH("%s/current_tracer", root), tracer, sizeof(tracer)) > 0 &&
	    strstr(tracer, "off"))
		return err_set(err, -EBUSY, "tracer %s is running in %s", tracer, root);
	instances = opendir(SYS_PATH("%s/instances", root));
	while (instances && !rc && (entry = readdir(instances)))
		if (entry->d_name[0] != '.')
			rc = check_unused(SYS_PATH("%s/instances/%s", root, entry->d_name), group, err);
	if (instances)
		closedir(instances);
	return rc;
}

static int instance_enable(const struct trace_instance *instance, bool on)
{
	return sys_write_file(NULL, SYS_PATH("%s/events/%s/enable", instance->path, instance->group),
			      on ? "1" : "0");
}

/* Retries rmdir(), which fails while an event is being disabled or a file is open. */
static int instance_remove(const void *arg)
{
	const struct trace_instance *instance = arg;

	for (int try = 0; try < REMOVE_TRIES; try++) {
		instance_enable(instance, false);
		if (!rmdir(instance->path) || errno == ENOENT)
			return 0;
		poll(NULL, 0, 10);
	}
	return -errno;
}

int trace_instance_open(struct trace_instance *instance, const char *root, const char *group,
			struct err *err)
{
	int rc;

	*instance = (struct trace_instance){0};
	snprintf(instance->path, sizeof(instance->path), "%.60s/instances/subtick-%d", root,
		 (int)getpid());
	snprintf(instance->group, sizeof(instance->group), "%s", group);
	rc = guard_start(&instance->guard, -1, instance_remove, instance);
	if (rc)
		return err_set(err, rc,
			       "cannot start the process that removes the trace instance: %s",
			       strerror(-rc));
	if (mkdir(instance->path, 0700)) {
		rc = -errno;
		trace_instance_close(instance);
		return err_set(err, rc, "cannot create trace instance %s: %s", instance->path,
			       strerror(-rc));
	}
	sys_write_file(NULL, SYS_PATH("%s/buffer_size_kb", instance->path), BUFFER_KB);
	return 0;
}

int trace_instance_enable(struct trace_instance *instance, bool on, struct err *err)
{
	int rc = instance_enable(instance, on);

	return rc ? err_set(err, rc, "cannot %s events %s: %s", on ? "enable" : "disable",
			    instance->group, strerror(-rc))
		  : 0;
}

int trace_instance_close(struct trace_instance *instance)
{
	/* If the guard was killed, this process removes the instance. */
	return guard_undo(&instance->guard) ? instance_remove(instance) : 0;
}
