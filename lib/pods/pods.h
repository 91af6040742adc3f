/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of pods by uid and of containers by id, from kubelet and container runtimes. */
#ifndef SUBTICK_PODS_PODS_H
#define SUBTICK_PODS_PODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pods;

/*
 * Reads the names below @root, a string that must outlive the result. Keeps kubelet's directories
 * open, so that pods_refresh() needs no privileges. Files of runtimes are received over the socket
 * @channel (pods/runtime_files.h), which pods_close() closes. If @channel is -1, this process opens
 * the files. Ignores missing directories. Returns 0 or -ENOMEM.
 */
int pods_open(const char *root, int channel, struct pods **ret_pods);
/*
 * Reads changes in the directories of kubelet and container runtimes without blocking. This and the
 * following functions accept a NULL @pods.
 */
void pods_refresh(struct pods *pods);
/* Opens directories that are missing or not watched. pods_refresh() calls it every 5 s. */
void pods_retry(struct pods *pods);
void pods_close(struct pods *pods);

struct pods_names {
	const char *namespace, *pod, *container, *image; /* names; NULL if unknown */
};

/*
 * Finds the names of pod @uid and container @id. @uid and @id may be NULL. @ret_names is valid
 * until the next pods_refresh(). Returns false if no name is known, or if two sources have
 * different names.
 */
bool pods_find(const struct pods *pods, const char *uid, const char *id,
	       struct pods_names *ret_names);
/* Number of names added so far. pods_find() finds new names only if this number has changed. */
uint64_t pods_generation(const struct pods *pods);
/* True if a directory of kubelet or of a runtime exists. */
bool pods_present(const struct pods *pods);

#endif
