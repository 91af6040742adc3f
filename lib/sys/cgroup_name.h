/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The container and the pod that a cgroup path names. */
#ifndef SUBTICK_SYS_CGROUP_NAME_H
#define SUBTICK_SYS_CGROUP_NAME_H

#include <stddef.h>

struct cgroup_name {
	char pod_uid[40];	/* with dashes, "" if none */
	char container_id[136]; /* hexadecimal, or the name of an LXC container; "" if none */
	const char *runtime;	/* "containerd", "cri-o", "docker", "podman", "lxc", or NULL */
	size_t pod_len;		/* length of the prefix of the path that names the pod; 0 if none */
	/* "guaranteed", "burstable", "besteffort", or NULL. Cgroups of the classes have it, too. */
	const char *qos;
};

/*
 * Parses paths of kubelet's systemd and cgroupfs drivers with any prefix, and of docker, podman and
 * LXC, with \x2d escapes. Paths never contain the names of pods.
 */
void cgroup_name_parse(const char *path, struct cgroup_name *ret_name);

#endif
