/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of pods by uid and of containers by id, from kubelet and container runtimes. */
#ifndef SUBTICK_PODS_PODS_H
#define SUBTICK_PODS_PODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pods;

/*
 * Reads the names below @root (NULL: the machine's own), which must outlive the result. Keeps
 * descriptors of kubelet's directories, so that pods_refresh() needs no privileges for them. Files
 * of runtimes come by @channel (pods/runtime_files.h), which is closed here; -1: open them. A
 * machine without kubelet or runtime has no names, which is no error. 0 or -ENOMEM.
 */
int pods_open(const char *root, int channel, struct pods **ret_pods);
/* Reads what has changed; never blocks. */
void pods_refresh(struct pods *pods);
/* Opens directories that were missing or cannot be watched; a refresh does so every 5 s. */
void pods_retry(struct pods *pods);
/* NULL is fine, here and below. */
void pods_close(struct pods *pods);

struct pods_names {
	const char *namespace, *pod, *container, *image; /* NULL if unknown */
};

/*
 * Names of the pod @uid and of the container @id, each NULL if there is none; valid until the next
 * refresh. False if no name is known. Names that two sources disagree about are unknown.
 */
bool pods_find(const struct pods *pods, const char *uid, const char *id,
	       struct pods_names *ret_names);
/* Number of names that were added. While it stays, pods_find() finds nothing new; 0: no names. */
uint64_t pods_news(const struct pods *pods);
/* True if a directory of kubelet or of a runtime exists. */
bool pods_present(const struct pods *pods);

#endif
