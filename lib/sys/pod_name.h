/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What kubelet's file names, and names by its rules elsewhere, say of pods and containers. */
#ifndef SUBTICK_SYS_POD_NAME_H
#define SUBTICK_SYS_POD_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a file name, without NUL. */
struct pod_text {
	const char *at;
	size_t len;
};

struct pod_name {
	struct pod_text namespace, pod;
	struct pod_text uid;	   /* of a pod's directory or a runtime's file */
	struct pod_text container; /* of a container's link */
	struct pod_text id;	   /* likewise */
	struct pod_text image;	   /* of a runtime's file */
	bool cut;		   /* the id lacks its end: the file name was too long */
};

/*
 * "<namespace>_<pod>_<uid>", a directory of /var/log/pods. False for anything that kubelet does not
 * make: then nothing is known, rather than something wrong. @ret_name points into @file.
 */
bool pod_name_of_dir(const char *file, struct pod_name *ret_name);
/* "<pod>_<namespace>_<container>-<id>.log", a link of /var/log/containers; likewise. */
bool pod_name_of_link(const char *file, struct pod_name *ret_name);
/*
 * "k8s_<container>_<pod>_<namespace>_<uid>_<attempt>": what CRI-O and cri-dockerd call a container,
 * with POD as the container for that which holds the pod together; likewise.
 */
bool pod_name_of_container(const char *name, struct pod_name *ret_name);

/* Whether names keep the rules of Kubernetes, and an id is one of 64 hex digits. */
bool pod_name_is_namespace(struct pod_text text);
bool pod_name_is_pod(struct pod_text text);
bool pod_name_is_container(struct pod_text text);
bool pod_name_is_uid(struct pod_text text);
bool pod_name_is_id(struct pod_text text);

#endif
