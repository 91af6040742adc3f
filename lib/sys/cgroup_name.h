/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The container and the pod that a cgroup path names. */
#ifndef SUBTICK_SYS_CGROUP_NAME_H
#define SUBTICK_SYS_CGROUP_NAME_H

struct cgroup_name {
	char pod_uid[40];	/* with dashes, "" if none */
	char container_id[136]; /* hexadecimal, or the name of an LXC container; "" if none */
	const char *runtime;	/* "containerd", "cri-o", "docker", "podman", "lxc", or NULL */
	const char *qos;	/* "guaranteed", "burstable", "besteffort", or NULL outside pods */
};

/*
 * Knows the systemd and the cgroupfs driver of the kubelet, with any prefix; docker, podman, LXC;
 * and \x2d escapes. A path does not contain the names of pods: only the runtime knows those.
 */
void cgroup_name_parse(const char *path, struct cgroup_name *ret_name);

#endif
