/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a control group's path tells of the container and the pod in it. */
#ifndef SUBTICK_SYS_CGROUP_NAME_H
#define SUBTICK_SYS_CGROUP_NAME_H

struct cgroup_name {
	char pod_uid[40];	/* with dashes, "" if none */
	char container_id[136]; /* hexadecimal, or the name of an LXC container; "" if none */
	const char *runtime;	/* "containerd", "cri-o", "docker", "podman", "lxc", or NULL */
	const char *qos;	/* "guaranteed", "burstable", "besteffort", or NULL outside pods */
};

/*
 * Knows the systemd and the cgroupfs driver of the kubelet, with prefixes before them; docker,
 * podman, LXC; and \x2d escapes. A path holds no names of pods: those need the runtime's socket.
 */
void cgroup_name_parse(const char *path, struct cgroup_name *ret_name);

#endif
