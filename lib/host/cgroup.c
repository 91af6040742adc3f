/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds cgroup hierarchies and cgroups, and parses PSI files. */
#include "host/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"
#include "host/mountinfo.h"

/* Only the first mount of a hierarchy is used: later mounts are bind mounts for services. */
static void note_mount(struct cgroup_layout *layout, const struct mount *mount, char *point)
{
	if (point[0])
		return;
	strcpy(point, mount->point);
	layout->subtree |= strcmp(mount->root, "/") != 0;
}

static int visit_mount(const struct mount *mount, void *arg)
{
	struct cgroup_layout *layout = arg;

	if (!strcmp(mount->fstype, "cgroup2")) {
		layout->mode |= CGROUP_V2;
		note_mount(layout, mount, layout->v2);
	}
	if (strcmp(mount->fstype, "cgroup"))
		return 0;
	layout->mode |= CGROUP_V1;
	if (mount_has_option(mount->options, "cpu"))
		note_mount(layout, mount, layout->v1_cpu);
	if (mount_has_option(mount->options, "cpuset"))
		note_mount(layout, mount, layout->v1_cpuset);
	return 0;
}

int cgroup_layout(const char *root, struct cgroup_layout *ret_layout)
{
	struct cgroup_layout layout = {0};
	int rc = mountinfo_each(root, visit_mount, &layout);

	if (!rc)
		*ret_layout = layout;
	return rc;
}

int cgroup_v1_mount(const char *root, const char *controller, char ret_point[PATH_MAX])
{
	struct mount mount;
	int rc = mountinfo_find(root, "cgroup", controller, &mount);

	if (!rc)
		strcpy(ret_point, mount.point);
	return rc;
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

/* value of FILEID_KERNFS in the kernel's include/linux/exportfs.h. */
#define HANDLE_KERNFS 0xfe

void cgroup_paths_open(struct cgroup_paths *paths, const char *mount)
{
	paths->fd = mount[0] ? open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	paths->prefix = strlen(mount);
}

void cgroup_paths_close(struct cgroup_paths *paths)
{
	fd_close(&paths->fd);
}

int cgroup_path(const struct cgroup_paths *paths, uint64_t id, char *buf, size_t size)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} of = {.handle = {.handle_bytes = sizeof(id), .handle_type = HANDLE_KERNFS}};
	char link[32], path[PATH_MAX];
	ssize_t len;
	int fd;

	if (paths->fd < 0)
		return -ENOENT;
	memcpy(of.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(paths->fd, &of.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno == ESTALE ? -ENOENT : -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (len < 0)
		return -errno;
	path[len] = '\0';
	if ((size_t)len < paths->prefix || strstr(path, " (deleted)"))
		return -ENOENT;
	snprintf(buf, size, "%s", path[paths->prefix] ? path + paths->prefix : "/");
	return 0;
}

int cgroup_find(const char *mount, const char *name, char ret_path[PATH_MAX], uint64_t *ret_id,
		struct err *err)
{
	char path[PATH_MAX], full[PATH_MAX];
	size_t len = strlen(mount);
	struct stat cgroup;

	if (len && !strncmp(name, mount, len) && (name[len] == '/' || !name[len]))
		name += len;
	name += strspn(name, "/");
	len = strlen(name);
	while (len && name[len - 1] == '/')
		len--;
	if (snprintf(path, sizeof(path), "/%.*s", (int)len, name) >= (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "the path of a cgroup is too long");
	if (sys_path(mount, path, full, sizeof(full)) || stat(full, &cgroup))
		return err_set(err, -ENOENT, "no cgroup %s below %s", path,
			       mount[0] ? mount : "(no mount)");
	strcpy(ret_path, path);
	/* A cgroup's id is the inode number of its directory. */
	*ret_id = cgroup.st_ino;
	return 0;
}

/* Returns the total time of the PSI line that begins with @kind, converted from us to ns. */
static uint64_t total_ns(const char *text, const char *kind)
{
	const char *line = strstr(text, kind);
	uint64_t us;

	if (!line ||
	    sscanf(line, "%*s avg10=%*s avg60=%*s avg300=%*s total=%" SCNu64, &us) != 1 ||
	    us > UINT64_MAX / NSEC_PER_USEC - 1)
		return UINT64_MAX;
	return us * NSEC_PER_USEC;
}

int psi_read(const char *root, const char *path, struct psi *ret_psi)
{
	char text[256];
	int rc = sys_read_file(root, path, text, sizeof(text));
	struct psi psi;

	if (rc < 0)
		return rc;
	psi.some_ns = total_ns(text, "some ");
	/* The kernel always reports 0 for CPU pressure "full" of the whole machine. */
	psi.full_ns = strcmp(path, PSI_CPU_NODE) ? total_ns(text, "full ") : UINT64_MAX;
	if (psi.some_ns == UINT64_MAX)
		return -EINVAL;
	*ret_psi = psi;
	return 0;
}
