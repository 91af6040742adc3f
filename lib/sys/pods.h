/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of pods and containers, from what kubelet and runtimes leave on disk; no API is asked. */
#ifndef SUBTICK_SYS_PODS_H
#define SUBTICK_SYS_PODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pods;

/*
 * Reads the names below @root (NULL: the machine's own) and keeps descriptors of their directories
 * for pods_refresh(), which then needs no privileges for those of kubelet. Files of runtimes come
 * by @channel (sys/runtime_files.h), which then is owned; -1: they are opened here. A machine
 * without kubelet or runtime has no names, which is no error. 0 or -ENOMEM.
 */
int pods_open(const char *root, int channel, struct pods **ret_pods);
/* Takes up what has changed, without waiting for anything. */
void pods_refresh(struct pods *pods);
/* Looks for directories that are missing or cannot be watched; a refresh does so every 5 s. */
void pods_retry(struct pods *pods);
/* NULL is fine, here and below. */
void pods_close(struct pods *pods);

struct pods_names {
	const char *namespace, *pod, *container, *image; /* NULL if unknown */
};

/*
 * What is known of a pod's uid and of a container's id, each NULL if there is none; until the next
 * refresh. False if nothing is. What two sources disagree about is unknown.
 */
bool pods_find(const struct pods *pods, const char *uid, const char *id,
	       struct pods_names *ret_names);
/* Grows with every name that comes; while it is the same, pods_find() finds nothing new. */
uint64_t pods_news(const struct pods *pods);
/* Whether this machine has a kubelet or a runtime: one of their directories is there. */
bool pods_present(const struct pods *pods);
/* How many pods and containers have names. */
size_t pods_count(const struct pods *pods);

#endif
