/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trace instances, and the guard process that removes them if we die. */
#include "sys/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file.h"
#include "sys/mountinfo.h"

#define BUFFER_KB    "64"
#define REMOVE_TRIES 200 /* of 10 ms */

int tracefs_find(const char *root, char *buf, size_t size)
{
	/* Debugfs mounts it below itself as soon as somebody looks for a file in it. */
	static const char *const usual[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char path[TRACEFS_PATH];

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		snprintf(path, sizeof(path), "%s/events", usual[i]);
		if (sys_exists(root, path)) {
			snprintf(buf, size, "%s", usual[i]);
			return 0;
		}
	}
	return mountinfo_find(root, "tracefs", buf, size);
}

int tracefs_root(char *root, size_t size, struct err *err)
{
	char path[2 * TRACEFS_PATH];

	if (!tracefs_find(NULL, root, size)) {
		snprintf(path, sizeof(path), "%s/events", root);
		if (sys_exists(NULL, path))
			return 0;
	}
	if (geteuid())
		return err_unsupported(err, -EACCES, "run as root",
				       "this user may not access tracefs");
	return err_unsupported(err, -ENOENT, "mount -t tracefs tracefs /sys/kernel/tracing",
			       "tracefs is not mounted, or this kernel has no CONFIG_TRACING");
}

bool tracefs_has_event(const char *root, const char *group, const char *event)
{
	char path[2 * TRACEFS_PATH];

	snprintf(path, sizeof(path), "%s/events/%s/%s", root, group, event);
	return sys_exists(NULL, path);
}

static int check_unused(const char *dir, const char *group, struct err *err)
{
	char path[4 * TRACEFS_PATH], text[32];

	snprintf(path, sizeof(path), "%s/events/%s/enable", dir, group);
	if (sys_read_file(NULL, path, text, sizeof(text)) < 0 || !strcmp(text, "0"))
		return 0;
	return err_set(err, -EBUSY, "events %s are already enabled in %.100s", group, dir);
}

int tracefs_group_unused(const char *root, const char *group, struct err *err)
{
	char path[2 * TRACEFS_PATH], tracer[64];
	struct dirent *entry;
	DIR *instances;
	int rc = check_unused(root, group, err);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/current_tracer", root);
	if (sys_read_file(NULL, path, tracer, sizeof(tracer)) > 0 && strstr(tracer, "off"))
		return err_set(err, -EBUSY, "tracer %s is running in %s", tracer, root);
	snprintf(path, sizeof(path), "%s/instances", root);
	instances = opendir(path);
	while (instances && !rc && (entry = readdir(instances))) {
		char dir[3 * TRACEFS_PATH];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(dir, sizeof(dir), "%.100s/%.250s", path, entry->d_name);
		rc = check_unused(dir, group, err);
	}
	if (instances)
		closedir(instances);
	return rc;
}

static int instance_write(const struct trace_instance *instance, const char *file, const char *text)
{
	char path[2 * TRACEFS_PATH];

	snprintf(path, sizeof(path), "%s/%s", instance->path, file);
	return sys_write_file(NULL, path, text);
}

static int instance_enable(const struct trace_instance *instance, bool on)
{
	char file[64];

	snprintf(file, sizeof(file), "events/%s/enable", instance->group);
	return instance_write(instance, file, on ? "1" : "0");
}

/* Retries: the directory is busy while an event is being switched off or a file is open. */
static int instance_remove(const struct trace_instance *instance)
{
	for (int try = 0; try < REMOVE_TRIES; try++) {
		instance_enable(instance, false);
		if (!rmdir(instance->path) || errno == ENOENT)
			return 0;
		poll(NULL, 0, 10);
	}
	return -errno;
}

static int undo_instance(const void *arg)
{
	return instance_remove(arg);
}

int trace_instance_open(struct trace_instance *instance, const char *root, const char *group,
			struct err *err)
{
	int rc;

	*instance = (struct trace_instance){0};
	snprintf(instance->path, sizeof(instance->path), "%.60s/instances/subtick-%d", root,
		 (int)getpid());
	snprintf(instance->group, sizeof(instance->group), "%s", group);
	rc = guard_start(&instance->guard, -1, undo_instance, instance);
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
	instance_write(instance, "buffer_size_kb", BUFFER_KB);
	return 0;
}

int trace_instance_enable(struct trace_instance *instance, bool on, struct err *err)
{
	int rc = instance_enable(instance, on);

	if (rc)
		return err_set(err, rc, "cannot %s events %s: %s", on ? "enable" : "disable",
			       instance->group, strerror(-rc));
	return 0;
}

int trace_instance_close(struct trace_instance *instance)
{
	/* The guard removes it; if the guard was killed, we do. */
	return guard_undo(&instance->guard) ? instance_remove(instance) : 0;
}
