/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the file of a setting, or the reason why the machine does not have the file. */
#include "measure/try/setting.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "host/cgroup.h"
#include "host/file.h"

/* Files outside cgroups that a setting may change, as patterns for fnmatch() with FNM_PATHNAME. */
static const char *const machine_files[] = {
	"/proc/irq/[0-9]*/smp_affinity",
	"/proc/irq/[0-9]*/smp_affinity_list",
	"/sys/devices/system/cpu/cpu[0-9]*/power/pm_qos_resume_latency_us",
	"/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*/disable",
	NULL,
};

/* Pairs of files that each exist in only one cgroup version and have the same purpose. */
static const struct {
	const char *v1, *v2;
} counterparts[] = {
	{"cpu.shares", "cpu.weight"},	       {"cpu.shares", "cpu.weight.nice"},
	{"cpu.cfs_quota_us", "cpu.max"},       {"cpu.cfs_period_us", "cpu.max"},
	{"cpu.cfs_burst_us", "cpu.max.burst"},
};

static bool is_cgroup_file(const char *file)
{
	return !strncmp(file, "cpu.", 4) || !strncmp(file, "cpuset.", 7);
}

static bool is_machine_file(const char *path)
{
	for (const char *const *pattern = machine_files; *pattern; pattern++)
		if (!fnmatch(*pattern, path, FNM_PATHNAME))
			return true;
	return false;
}

/* Path of a cgroup's file relative to @mount. */
static const char *below(const char *mount, const char *path)
{
	size_t len = strlen(mount);

	return len && !strncmp(path, mount, len) && path[len] == '/' ? path + len : path;
}

/* True if the file @path exists at @mount. *@ret_dir is true if the cgroup's directory exists. */
static bool at_mount(const char *root, const char *mount, const char *path, char *ret_path,
		     bool *ret_dir)
{
	char full[2 * PATH_MAX], *slash;
	bool exists;

	*ret_dir = false;
	if (!mount[0])
		return false;
	snprintf(full, sizeof(full), "%s%s", mount, below(mount, path));
	if (strlen(full) >= PATH_MAX)
		return false;
	exists = sys_exists(root, full);
	if (exists)
		strcpy(ret_path, full);
	slash = strrchr(full, '/');
	*slash = '\0';
	*ret_dir = sys_exists(root, full);
	return exists;
}

/*
 * Returns the file that has the same purpose as @file in the other cgroup version, or NULL if both
 * versions have @file.
 */
static const char *counterpart(const char *file, bool file_is_v1)
{
	for (size_t i = 0; i < ARRAY_SIZE(counterparts); i++)
		if (!strcmp(file, file_is_v1 ? counterparts[i].v1 : counterparts[i].v2))
			return file_is_v1 ? counterparts[i].v2 : counterparts[i].v1;
	return NULL;
}

static int refuse(const char *path, const char *file, bool in_v1, bool in_v2, struct err *err)
{
	int dir = (int)(file - 1 - path);
	const char *other;

	if (!in_v1 && !in_v2)
		return err_set(err, -ENOENT, "no cgroup %.*s", dir ? dir : 1, path);
	other = counterpart(file, false);
	if (other && in_v1)
		return err_set(err, -ENOENT,
			       "%s is a file of cgroup v2, but %.*s is a cgroup of v1: use %s",
			       file, dir ? dir : 1, path, other);
	other = counterpart(file, true);
	if (other && in_v2)
		return err_set(err, -ENOENT,
			       "%s is a file of cgroup v1, but %.*s is a cgroup of v2: use %s",
			       file, dir ? dir : 1, path, other);
	return err_set(err, -ENOENT,
		       "cgroup %.*s has no file %s: enable the controller in "
		       "cgroup.subtree_control of its parent",
		       dir ? dir : 1, path, file);
}

static int find_cgroup_file(const char *root, const char *path, char *ret_path, struct err *err)
{
	const char *file = strrchr(path, '/') + 1;
	size_t len = strcspn(file, ".");
	char controller[32], v1[PATH_MAX] = "";
	struct cgroup_layout layout;
	bool in_v1, in_v2;
	int rc;

	if (!is_cgroup_file(file))
		return err_set(err, -EINVAL,
			       "expected a file of the controllers cpu and cpuset, "
			       "of an IRQ affinity or of idle states; use --a and "
			       "--b for other settings");
	rc = cgroup_layout(root, &layout);
	if (rc)
		return err_set(err, rc, "cannot find where cgroups are mounted: %s", strerror(-rc));
	snprintf(controller, sizeof(controller), "%.*s", (int)len, file);
	rc = cgroup_v1_mount(root, controller, v1);
	if (rc && rc != -ENOENT)
		return err_set(err, rc, "cannot read the mounts: %s", strerror(-rc));
	if (at_mount(root, v1, path, ret_path, &in_v1) ||
	    at_mount(root, layout.v2, path, ret_path, &in_v2))
		return 0;
	return refuse(below(v1, below(layout.v2, path)), strrchr(path, '/') + 1, in_v1, in_v2, err);
}

/* Splits "PATH=VALUE" at the = after a known file name, because names of cgroups may contain =. */
static bool split(const char *text, struct try_setting *s)
{
	bool known = false;

	for (const char *at = text; !known && (at = strchr(at, '=')); at++) {
		memcpy(s->name, text, at - text);
		s->name[at - text] = '\0';
		strcpy(s->value, at + 1);
		known = is_machine_file(s->name) ||
			(s->name[0] == '/' && is_cgroup_file(strrchr(s->name, '/') + 1));
	}
	return s->name[0] == '/' && s->value[0];
}

int try_setting_parse(const char *root, const char *text, struct try_setting *ret_setting,
		      struct err *err)
{
	struct try_setting *s = ret_setting;

	s->name[0] = s->value[0] = '\0';
	if (strlen(text) >= sizeof(s->value) || strpbrk(text, "\t\n") || strstr(text, "/../"))
		return err_set(err, -EINVAL, "too long, or contains a tab, a newline or /../");
	if (!split(text, s))
		return err_set(err, -EINVAL, "expected PATH=VALUE, such as /batch/cpu.weight=50");
	if (!is_machine_file(s->name))
		return find_cgroup_file(root, s->name, s->path, err);
	strcpy(s->path, s->name);
	if (!sys_exists(root, s->path))
		return err_set(err, -ENOENT, "this machine has no file %s", s->path);
	return 0;
}
