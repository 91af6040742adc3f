/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of containers by id and of their pods by uid, from the files of container runtimes. */
#ifndef SUBTICK_SYS_RUNTIME_NAMES_H
#define SUBTICK_SYS_RUNTIME_NAMES_H

#include "sys/pod_table.h"

struct runtime_names;

enum runtime_key {
	RUNTIME_CONTAINERS, /* by id */
	RUNTIME_PODS,	    /* by uid */
	RUNTIME_NR_KEYS,
};

/*
 * Files come by @channel (sys/runtime_files.h), which is then owned. -1: files below @root are
 * opened here. 0 or -ENOMEM.
 */
int runtime_names_open(const char *root, int channel, struct runtime_names **ret_names);
/* Reads what has changed, for at most 5 ms; the next call reads the rest. */
void runtime_names_refresh(struct runtime_names *names);
/* Names of the container or pod with @key, valid until the next refresh; NULL if unknown. */
const struct pod_table_names *runtime_names_find(const struct runtime_names *names,
						 enum runtime_key by, const char *key);
/* True if a directory of a runtime exists. */
bool runtime_names_present(const struct runtime_names *names);
/* Number of names that were added, repeated ones included. */
uint64_t runtime_names_adds(const struct runtime_names *names);
void runtime_names_close(struct runtime_names *names);

#endif
