/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the cgroup hierarchies among the mounts. */
#include "sys/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/mountinfo.h"

struct cgroup_search {
	struct cgroup_layout layout;
	bool any_v1;
};

static void cgroup_note_mount(struct cgroup_layout *layout, const struct mount *mount, char *point)
{
	/* Use the first mount: later ones are bind mounts for services. */
	if (point[0])
		return;
	strcpy(point, mount->point);
	if (strcmp(mount->root, "/"))
		layout->subtree = true;
}

static int cgroup_visit(const struct mount *mount, void *arg)
{
	struct cgroup_search *search = arg;

	if (!strcmp(mount->fstype, "cgroup2"))
		cgroup_note_mount(&search->layout, mount, search->layout.v2);
	if (!strcmp(mount->fstype, "cgroup")) {
		search->any_v1 = true;
		if (mount_has_option(mount->options, "cpu"))
			cgroup_note_mount(&search->layout, mount, search->layout.v1_cpu);
	}
	return 0;
}

int cgroup_layout(const char *root, struct cgroup_layout *ret_layout)
{
	struct cgroup_search search = {0};
	int rc = mountinfo_each(root, cgroup_visit, &search);

	if (rc)
		return rc;
	if (search.layout.v2[0])
		search.layout.mode = search.any_v1 ? CGROUP_HYBRID : CGROUP_V2;
	else
		search.layout.mode = search.any_v1 ? CGROUP_V1 : CGROUP_NONE;
	*ret_layout = search.layout;
	return 0;
}

static size_t count_at(int dir, const char *name, int depth)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t nr = 1;

	if (!stream) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((entry = readdir(stream)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' && depth < 64)
			nr += count_at(fd, entry->d_name, depth + 1);
	closedir(stream);
	return nr;
}

size_t cgroup_count(const char *path)
{
	return count_at(AT_FDCWD, path, 0);
}

bool cgroup_cpu_is_v1(const struct cgroup_layout *layout)
{
	if (!layout->v1_cpu[0] || !layout->v2[0])
		return layout->v1_cpu[0];
	return cgroup_count(layout->v1_cpu) > 1 || cgroup_count(layout->v2) <= 1;
}

const char *cgroup_mode_name(enum cgroup_mode mode)
{
	static const char *const names[] = {
		[CGROUP_NONE] = "none",
		[CGROUP_V1] = "v1",
		[CGROUP_V2] = "v2",
		[CGROUP_HYBRID] = "hybrid",
	};

	return names[mode];
}
