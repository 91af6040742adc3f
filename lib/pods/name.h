/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of pods and containers in cgroup paths and in file names of kubelet. */
#ifndef SUBTICK_PODS_NAME_H
#define SUBTICK_PODS_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct cgroup_name {
	char pod_uid[40]; /* uid with dashes; "" outside a pod */
	/* id of the container in hex, or name of the LXC container or VM, or "" */
	char container_id[136];
	/*
	 * Name of the runtime: "containerd", "cri-o", "docker", "podman", "lxc", "libvirt",
	 * "proxmox", "firecracker", or NULL.
	 */
	const char *runtime;
	size_t pod_len;		/* length of the pod's cgroup path; 0 outside a pod */
	/* QoS class of pod or parent: "guaranteed", "burstable", "besteffort", or NULL */
	const char *qos;
};

/*
 * Parses cgroup paths of kubelet (systemd and cgroupfs drivers, any prefix), docker, podman,
 * LXC, libvirt, Proxmox VE and Firecracker's jailer. Paths contain uids of pods, but no pod names.
 */
void cgroup_name_parse(const char *path, struct cgroup_name *ret_name);
/* True if the runtime runs VMs. Returns false if @runtime is NULL. */
bool cgroup_runtime_has_vms(const char *runtime);
/*
 * Copies @len bytes of a cgroup name to @to and decodes the \xNN escapes of systemd. Truncates the
 * decoded name to @size bytes, including the NUL.
 */
void cgroup_unescape(const char *from, size_t len, char *to, size_t size);

/* A string without NUL at its end. */
struct pod_text {
	const char *at;
	size_t len;
};

struct pod_name {
	struct pod_text namespace, pod;
	struct pod_text uid;
	struct pod_text container;
	struct pod_text id;
	struct pod_text image;
	bool cut; /* true if kubelet cut the container id, because the file name was too long */
};

/*
 * Parses "<namespace>_<pod>_<uid>", a directory of /var/log/pods. Returns false if @file does not
 * match. The texts of @ret_name point into @file.
 */
bool pod_name_of_dir(const char *file, struct pod_name *ret_name);
/* Parses "<pod>_<namespace>_<container>-<id>.log", a link of /var/log/containers. */
bool pod_name_of_link(const char *file, struct pod_name *ret_name);
/*
 * Parses "k8s_<container>_<pod>_<namespace>_<uid>_<attempt>", a container name of CRI-O or
 * cri-dockerd. In the name of a sandbox container, <container> is POD.
 */
bool pod_name_of_container(struct pod_text name, struct pod_name *ret_name);

/*
 * Check texts by the rules of Kubernetes: names of namespaces and containers (label), names of
 * pods, uids of pods, and ids of containers.
 */
bool pod_name_is_label(struct pod_text text);
bool pod_name_is_pod(struct pod_text text);
bool pod_name_is_uid(struct pod_text text);
bool pod_name_is_id(struct pod_text text);

#endif
