/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates and removes cgroups for live tests. */
#include "cgroups.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live.h"
#include "host/cgroup.h"

#define MAX_MADE 64

static struct cgroup_layout layout;
static char *made[MAX_MADE];
static int nr_made;
static pid_t owner;

static const char *mount(void)
{
	return layout.v1_cpu[0] ? layout.v1_cpu : layout.v2;
}

static void clean(void)
{
	/*
	 * Only the main process of the test removes cgroups at exit. A child process of the test
	 * that calls exit() keeps the cgroups.
	 */
	for (int i = nr_made; getpid() == owner && i-- > 0;) {
		cgroups_remove(made[i]);
		free(made[i]);
	}
}

bool cgroups_v2(void)
{
	return !layout.v1_cpu[0];
}

void cgroups_open(void)
{
	if (geteuid())
		live_skip_all("needs root");
	if (cgroup_layout(NULL, &layout) || !mount()[0])
		live_skip_all("no cgroup hierarchy with controller cpu is mounted");
	owner = getpid();
	if (cgroups_v2())
		cgroups_write("", "cgroup.subtree_control", "+cpu");
	atexit(clean);
}

static bool full_path(const char *path, const char *file, char buf[PATH_MAX])
{
	FILE *text = fmemopen(buf, PATH_MAX, "w");

	if (!text)
		return false;
	fprintf(text, "%s%s%s%s", mount(), path, *file ? "/" : "", file);
	return !fclose(text);
}

const char *cgroups_make(const char *name)
{
	char full[PATH_MAX], *path;

	if (nr_made == MAX_MADE || asprintf(&path, "/subtick-%d-%s", getpid(), name) < 0)
		live_skip_all("too many cgroups");
	for (int i = 0; i < nr_made; i++)
		if (!strcmp(made[i], path)) {
			free(path);
			return made[i];
		}
	made[nr_made++] = path;
	if (!full_path(path, "", full) || (mkdir(full, 0755) && errno != EEXIST))
		live_skip_all("cannot make cgroup %s: %s", full, strerror(errno));
	return path;
}

bool cgroups_mkdir(const char *path)
{
	char full[PATH_MAX];

	return full_path(path, "", full) && !mkdir(full, 0755);
}

bool cgroups_write(const char *path, const char *file, const char *text)
{
	char full[PATH_MAX];

	return full_path(path, file, full) && live_write(full, text);
}

bool cgroups_enter(const char *path, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return cgroups_write(path, "cgroup.procs", text);
}

bool cgroups_remove(const char *path)
{
	char full[PATH_MAX], line[32];
	FILE *procs;

	for (int try = 0; try < 1000; try++) {
		full_path(path, "", full);
		if (!rmdir(full) || errno == ENOENT)
			return true;
		full_path(path, "cgroup.procs", full);
		procs = fopen(full, "r");
		while (procs && fgets(line, sizeof(line), procs))
			cgroups_enter("", atoi(line));
		if (procs)
			fclose(procs);
		usleep(5000);
	}
	return false;
}

void cgroups_read(const char *path, const char *file, char ret_word[64])
{
	char full[PATH_MAX];
	FILE *text = full_path(path, file, full) ? fopen(full, "re") : NULL;

	if (!text || fscanf(text, "%63s", ret_word) != 1)
		ret_word[0] = '\0';
	if (text)
		fclose(text);
}

double cgroups_stat(const char *path, const char *file, const char *word)
{
	char full[PATH_MAX], key[64];
	double value, found = -1.0;
	FILE *stat = full_path(path, file, full) ? fopen(full, "r") : NULL;

	while (stat && fscanf(stat, "%63s %lf", key, &value) == 2)
		if (!strcmp(key, word))
			found = value;
	if (stat)
		fclose(stat);
	return found;
}

bool cgroups_quota(const char *path, unsigned int quota_us, unsigned int period_us)
{
	char text[48];

	if (cgroups_v2()) {
		snprintf(text, sizeof(text), "%u %u", quota_us, period_us);
		return cgroups_write(path, "cpu.max", text);
	}
	snprintf(text, sizeof(text), "%u", period_us);
	if (!cgroups_write(path, "cpu.cfs_period_us", text))
		return false;
	snprintf(text, sizeof(text), "%u", quota_us);
	return cgroups_write(path, "cpu.cfs_quota_us", text);
}
