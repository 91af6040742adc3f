/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mounted cgroup hierarchies, cgroups by path, pressure stall information (PSI). */
#ifndef SUBTICK_SYS_CGROUP_H
#define SUBTICK_SYS_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum cgroup_mode {
	CGROUP_NONE,
	CGROUP_V1 = 1 << 0,
	CGROUP_V2 = 1 << 1,
	CGROUP_HYBRID = CGROUP_V1 | CGROUP_V2,
};

struct cgroup_layout {
	enum cgroup_mode mode;
	/* mount points of cgroup v2 and of the v1 controllers; "" if not mounted */
	char v2[PATH_MAX];
	char v1_cpu[PATH_MAX];
	char v1_cpuset[PATH_MAX];
	bool subtree; /* true if only a subtree of the hierarchy is mounted, as in a container */
};

int cgroup_layout(const char *root, struct cgroup_layout *ret_layout);
/* Finds the mount point of the cgroup v1 hierarchy with @controller, or -ENOENT. */
int cgroup_v1_mount(const char *root, const char *controller, char ret_point[PATH_MAX]);
/*
 * True if the v1 cpu controller is mounted and in use. A v1 hierarchy with only its root cgroup
 * counts as unused if v2 has more cgroups.
 */
bool cgroup_cpu_is_v1(const struct cgroup_layout *layout);
/* Approximate number of cgroups at and below the directory @path. */
size_t cgroup_count(const char *path);
const char *cgroup_mode_name(enum cgroup_mode mode);

struct cgroup_paths {
	int fd;	       /* descriptor of the mount point; -1 if there is no cgroup hierarchy */
	size_t prefix; /* length of the path of the mount point */
};

void cgroup_paths_open(struct cgroup_paths *paths, const char *mount);
void cgroup_paths_close(struct cgroup_paths *paths);
/*
 * Path of cgroup @id below the mount point; "/" is the root cgroup. Returns -ENOENT if the cgroup
 * was removed or is outside the mounted subtree.
 */
int cgroup_path(const struct cgroup_paths *paths, uint64_t id, char *buf, size_t size);

/*
 * Finds a cgroup by its name: "/sys/fs/cgroup/a/", "/a" and "a" are equivalent. @mount may be "".
 * Returns -ENOENT if the cgroup does not exist.
 */
int cgroup_find(const char *mount, const char *name, char ret_path[PATH_MAX], uint64_t *ret_id,
		struct err *err);

#define PSI_CPU_NODE "/proc/pressure/cpu"

/* PSI totals since boot or since the creation of the cgroup; UINT64_MAX if unavailable. */
struct psi {
	uint64_t some_ns; /* time in which at least one task waited for a CPU */
	/* time in which tasks waited and none ran; UINT64_MAX for the whole machine */
	uint64_t full_ns;
};

/* Reads PSI_CPU_NODE or the cpu.pressure file of a cgroup. */
int psi_read(const char *root, const char *path, struct psi *ret_psi);

#endif
