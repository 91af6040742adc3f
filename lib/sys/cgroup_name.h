/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The container and the pod that a cgroup path names. */
#ifndef SUBTICK_SYS_CGROUP_NAME_H
#define SUBTICK_SYS_CGROUP_NAME_H

#include <stddef.h>

struct cgroup_name {
	char pod_uid[40];	/* with dashes, "" if none */
	char container_id[136]; /* hexadecimal, or the name of an LXC container; "" if none */
	const char *runtime;	/* "containerd", "cri-o", "docker", "podman", "lxc", or NULL */
	size_t pod_len;		/* of the beginning of the path that names the pod; 0 if none */
	const char *qos;	/* "guaranteed", "burstable", "besteffort", or NULL; also of the classes' own cgroups */
};

/*
 * Knows the systemd and the cgroupfs driver of the kubelet, with any prefix; docker, podman, LXC;
 * and \x2d escapes. A path does not contain the names of pods: only the runtime knows those.
 */
void cgroup_name_parse(const char *path, struct cgroup_name *ret_name);

#endif
