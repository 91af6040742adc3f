/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of pods and containers in cgroup paths and in file names of kubelet. */
#ifndef SUBTICK_PODS_NAME_H
#define SUBTICK_PODS_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct cgroup_name {
	char pod_uid[40];	/* with dashes, "" if none */
	/* Hexadecimal, or the name of an LXC container or of a VM of libvirt; "" if none. */
	char container_id[136];
	/* "containerd", "cri-o", "docker", "podman", "lxc", "libvirt", or NULL. */
	const char *runtime;
	size_t pod_len;		/* length of the prefix of the path that names the pod; 0 if none */
	/* "guaranteed", "burstable", "besteffort", or NULL. Cgroups of the classes have it, too. */
	const char *qos;
};

/*
 * Parses paths of kubelet's systemd and cgroupfs drivers with any prefix, and of docker, podman,
 * LXC and libvirt, with \x2d escapes. Paths never contain the names of pods.
 */
void cgroup_name_parse(const char *path, struct cgroup_name *ret_name);
/*
 * Copies @len bytes of a cgroup name, cut to @size bytes with NUL. systemd writes bytes that a unit
 * name must not contain as \xNN: copies those as the byte.
 */
void cgroup_unescape(const char *from, size_t len, char *to, size_t size);

/* A part of a file name, without NUL. */
struct pod_text {
	const char *at;
	size_t len;
};

struct pod_name {
	struct pod_text namespace, pod;
	struct pod_text uid;	   /* of a pod's directory or a runtime's file */
	struct pod_text container; /* of a container's link */
	struct pod_text id;	   /* of a container's link */
	struct pod_text image;	   /* of a runtime's file */
	bool cut;		   /* the id lacks its end: the file name was too long */
};

/*
 * Parses "<namespace>_<pod>_<uid>", a directory of /var/log/pods. False for names that kubelet does
 * not make. @ret_name points into @file.
 */
bool pod_name_of_dir(const char *file, struct pod_name *ret_name);
/* Parses "<pod>_<namespace>_<container>-<id>.log", a link of /var/log/containers. */
bool pod_name_of_link(const char *file, struct pod_name *ret_name);
/*
 * Parses "k8s_<container>_<pod>_<namespace>_<uid>_<attempt>", the container names of CRI-O and
 * cri-dockerd. <container> is POD for the sandbox container.
 */
bool pod_name_of_container(const char *name, struct pod_name *ret_name);

/* Rules of Kubernetes for names; an id has 64 hex digits. */
bool pod_name_is_label(struct pod_text text); /* of a namespace or container */
bool pod_name_is_pod(struct pod_text text);
bool pod_name_is_uid(struct pod_text text);
bool pod_name_is_id(struct pod_text text);

#endif
