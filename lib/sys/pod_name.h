/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the file names that kubelet makes for logs say of pods and containers. */
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
	struct pod_text uid;	   /* of a pod's directory */
	struct pod_text container; /* of a container's link */
	struct pod_text id;	   /* likewise */
	bool cut;		   /* the id lacks its end: the file name was too long */
};

/*
 * "<namespace>_<pod>_<uid>", a directory of /var/log/pods. False for anything that kubelet does not
 * make: then nothing is known, rather than something wrong. @ret_name points into @file.
 */
bool pod_name_of_dir(const char *file, struct pod_name *ret_name);
/* "<pod>_<namespace>_<container>-<id>.log", a link of /var/log/containers; likewise. */
bool pod_name_of_link(const char *file, struct pod_name *ret_name);

#endif
