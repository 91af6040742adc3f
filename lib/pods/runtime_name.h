/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the files of container runtimes: names, images, pods and namespaces of containers. */
#ifndef SUBTICK_PODS_RUNTIME_NAME_H
#define SUBTICK_PODS_RUNTIME_NAME_H

#include "pods/name.h"

enum runtime_format {
	RUNTIME_OCI,	 /* config.json of one container, with annotations of containerd's CRI */
	RUNTIME_DOCKER,	 /* config.v2.json of one container */
	RUNTIME_STORAGE, /* containers.json: all containers of podman or CRI-O */
};

/* Callback for each container. @id and @name are valid only during the call of the callback. */
typedef void (*runtime_name_fn)(void *arg, struct pod_text id, const struct pod_name *name);

/*
 * Parses a file of a container runtime. @id is the id of the container, for formats with one
 * container per file. Skips containers with invalid names. If the file is not JSON, returns -EINVAL
 * and never calls @found.
 */
int runtime_name_parse(enum runtime_format format, struct pod_text id, const char *text, size_t len,
		       runtime_name_fn found, void *arg);

#endif
