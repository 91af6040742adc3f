/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The id of a cgroup is a file handle: the kernel opens the directory, and names it. */
#include "sys/cgroup_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file.h"

/* FILEID_KERNFS of the kernel's exportfs.h, which is not for user space. */
#define HANDLE_KERNFS 0xfe

void cgroup_paths_open(struct cgroup_paths *paths, const char *mount)
{
	paths->fd = mount[0] ? open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	paths->prefix = strlen(mount);
}

void cgroup_paths_close(struct cgroup_paths *paths)
{
	if (paths->fd >= 0)
		close(paths->fd);
	paths->fd = -1;
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

static int normalize(const char *mount, const char *name, char ret_path[PATH_MAX])
{
	size_t len = strlen(mount);

	if (len && !strncmp(name, mount, len) && (name[len] == '/' || !name[len]))
		name += len;
	name += strspn(name, "/");
	len = strlen(name);
	while (len && name[len - 1] == '/')
		len--;
	if (len + 2 > PATH_MAX)
		return -ENAMETOOLONG;
	ret_path[0] = '/';
	memcpy(ret_path + 1, name, len);
	ret_path[len + 1] = '\0';
	return 0;
}

int cgroup_find(const char *mount, const char *name, char ret_path[PATH_MAX], uint64_t *ret_id,
		struct err *err)
{
	char path[PATH_MAX], full[PATH_MAX];
	struct stat cgroup;

	if (normalize(mount, name, path))
		return err_set(err, -ENAMETOOLONG, "the path of a cgroup is too long");
	if (sys_path(mount, path, full, sizeof(full)) || stat(full, &cgroup))
		return err_set(err, -ENOENT, "no cgroup %s below %s", path,
			       mount[0] ? mount : "(no mount)");
	strcpy(ret_path, path);
	/* The kernel's number of a cgroup is that of its directory. */
	*ret_id = cgroup.st_ino;
	return 0;
}
