/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of containers by id and of their pods by uid, from the files of container runtimes. */
#ifndef SUBTICK_SYS_RUNTIME_NAMES_H
#define SUBTICK_SYS_RUNTIME_NAMES_H

#include "sys/pod_table.h"

struct runtime_names;

/*
 * @channel: from where files come (sys/runtime_files.h), which then is owned; -1: files are
 * opened here, below @root. 0 or -ENOMEM.
 */
int runtime_names_open(const char *root, int channel, struct runtime_names **ret_names);
/* Takes up what has changed, without waiting; what takes too long is left for the next call. */
void runtime_names_refresh(struct runtime_names *names);
/* NULL if unknown; until the next refresh. */
const struct pod_table_names *runtime_names_find(const struct runtime_names *names, const char *id);
const struct pod_table_names *runtime_names_find_pod(const struct runtime_names *names,
						     const char *uid);
/* Whether there is a runtime whose files can be read. */
bool runtime_names_present(const struct runtime_names *names);
size_t runtime_names_count(const struct runtime_names *names);
/* How many names have come, also those of a container that has one already. */
uint64_t runtime_names_adds(const struct runtime_names *names);
/* NULL is fine. */
void runtime_names_close(struct runtime_names *names);

#endif
