/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names the cgroups that noise hit. */
#include "measure/noise/names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

/* Walks take at most 0.5 % of a core. One over 5,000 cgroups takes about 100 ms, over 50 cgroups 1 ms. */
#define WALK_REST	200
#define WALK_PERIOD_MAX (10 * NSEC_PER_SEC)
#define MAX_NAMES	1024
#define MAX_DEPTH	32

void noise_names_open(struct noise_names *names, const char *mount)
{
	*names = (struct noise_names){0};
	cgroup_paths_open(&names->paths, mount);
}

void noise_names_close(struct noise_names *names)
{
	cgroup_paths_close(&names->paths);
	free(names->list);
	names->list = NULL;
	names->nr = 0;
}

static struct noise_name *find(const struct noise_names *names, uint64_t id)
{
	for (size_t i = 0; i < names->nr; i++)
		if (names->list[i].id == id)
			return &names->list[i];
	return NULL;
}

/* Adds an id without a path. */
static void want(struct noise_names *names, uint64_t id)
{
	if (!names->list)
		names->list = calloc(MAX_NAMES, sizeof(*names->list));
	if (!names->list)
		return;
	if (names->nr == MAX_NAMES)
		names->nr = 0;
	names->list[names->nr++] = (struct noise_name){.id = id};
}

/* The inode number of a cgroup's directory is its id. */
static void walk(struct noise_names *names, int parent, const char *name, char *path, size_t len,
		 int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		struct noise_name *wanted;
		size_t more = strlen(entry->d_name) + 1;

		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, "..") || len + more >= NOISE_CGROUP_SIZE)
			continue;
		snprintf(path + len, NOISE_CGROUP_SIZE - len, "/%s", entry->d_name);
		wanted = find(names, entry->d_ino);
		if (wanted)
			memcpy(wanted->path, path, sizeof(wanted->path));
		if (depth < MAX_DEPTH)
			walk(names, fd, entry->d_name, path, len + more, depth + 1);
		path[len] = '\0';
	}
	closedir(dir);
}

/* Without the right to open a file by its handle, as in the exporter, the directories are walked. */
static void find_unnamed(struct noise_names *names, const struct noise_hit *hits, size_t nr)
{
	uint64_t begin_ns = clock_mono_ns(), end_ns, rest_ns;
	char path[NOISE_CGROUP_SIZE] = "";
	struct noise_name *root;
	bool wanted = false;
	struct stat mount;

	if (begin_ns < names->next_walk_ns)
		return;
	for (size_t i = 0; i < nr; i++)
		if (!hits[i].cgroup[0] && !find(names, hits[i].key)) {
			want(names, hits[i].key);
			wanted = true;
		}
	if (!wanted)
		return;
	root = fstat(names->paths.fd, &mount) ? NULL : find(names, mount.st_ino);
	if (root)
		snprintf(root->path, sizeof(root->path), "/");
	walk(names, names->paths.fd, ".", path, 0, 0);
	end_ns = clock_mono_ns();
	rest_ns = WALK_REST * (end_ns - begin_ns);
	names->next_walk_ns = end_ns + (rest_ns < WALK_PERIOD_MAX ? rest_ns : WALK_PERIOD_MAX);
}

void noise_names_fill(struct noise_names *names, struct noise_hit *hits, size_t nr)
{
	bool walk_needed = false;
	struct noise_name *name;

	for (size_t i = 0; i < nr; i++) {
		struct noise_hit *hit = &hits[i];

		hit->cgroup[0] = '\0';
		if (hit->key == NOISE_ON_IDLE)
			snprintf(hit->cgroup, sizeof(hit->cgroup), "(idle)");
		else if (hit->key == NOISE_ON_THREAD)
			snprintf(hit->cgroup, sizeof(hit->cgroup), "(kernel threads)");
		else if (cgroup_path(&names->paths, hit->key, hit->cgroup, sizeof(hit->cgroup)) ==
			 -EPERM)
			walk_needed = true;
	}
	if (walk_needed)
		find_unnamed(names, hits, nr);
	for (size_t i = 0; i < nr; i++) {
		struct noise_hit *hit = &hits[i];

		if (hit->cgroup[0])
			continue;
		name = find(names, hit->key);
		if (name && name->path[0])
			memcpy(hit->cgroup, name->path, sizeof(hit->cgroup));
		else
			snprintf(hit->cgroup, sizeof(hit->cgroup), "%s",
				 name || !walk_needed ? "(gone)" : "(new)");
	}
}
