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
	CGROUP_V1,
	CGROUP_V2,
	CGROUP_HYBRID, /* v1 controllers, and v2 beside them */
};

struct cgroup_layout {
	enum cgroup_mode mode;
	char v2[PATH_MAX];     /* mount point of the unified hierarchy, "" if none */
	char v1_cpu[PATH_MAX]; /* mount point of the v1 hierarchy with controller cpu, "" if none */
	char v1_cpuset[PATH_MAX]; /* the same of controller cpuset */
	bool subtree;	       /* only a part of a hierarchy is mounted, as in a container */
};

int cgroup_layout(const char *root, struct cgroup_layout *ret_layout);
/* Mount point of the v1 hierarchy with @controller; -ENOENT if there is none. */
int cgroup_v1_mount(const char *root, const char *controller, char ret_point[PATH_MAX]);
/*
 * Whether v1 controls the CPU: its controller cpu is mounted, unless that has no cgroup but its root
 * while v2 has some.
 */
bool cgroup_cpu_is_v1(const struct cgroup_layout *layout);
/* An estimate of how many cgroups there are: the directory @path and all below it. */
size_t cgroup_count(const char *path);
const char *cgroup_mode_name(enum cgroup_mode mode);

struct cgroup_paths {
	int fd;	       /* mount point; -1: no hierarchy */
	size_t prefix; /* length of the mount point */
};

void cgroup_paths_open(struct cgroup_paths *paths, const char *mount);
void cgroup_paths_close(struct cgroup_paths *paths);
/* "/" is the root. -ENOENT if it is gone or outside the mounted part, or another -errno. */
int cgroup_path(const struct cgroup_paths *paths, uint64_t id, char *buf, size_t size);

/*
 * Finds a cgroup by the name that a user typed: "/sys/fs/cgroup/a/", "/a" and "a" are the same.
 * @mount may be "". -ENOENT if no such cgroup exists.
 */
int cgroup_find(const char *mount, const char *name, char ret_path[PATH_MAX], uint64_t *ret_id,
		struct err *err);

#define PSI_CPU_NODE "/proc/pressure/cpu"

/* Totals since boot or since the cgroup was created. UINT64_MAX if the kernel lacks the line. */
struct psi {
	uint64_t some_ns; /* at least one task waited */
	uint64_t full_ns; /* tasks waited and none ran; unavailable for the whole machine */
};

/* @path is PSI_CPU_NODE or the cpu.pressure of a cgroup. 0 or -errno. */
int psi_read(const char *root, const char *path, struct psi *ret_psi);

#endif
