/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory and descriptors that the settings need, against the limits of this process. */
#ifndef SUBTICK_SERVE_RESOURCE_LIMITS_H
#define SUBTICK_SERVE_RESOURCE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/config.h"

/* For messages: rounded up. */
#define RESOURCES_MIB(bytes) (((unsigned long long)(bytes) + (1 << 20) - 1) >> 20)

struct resources {
	uint64_t map_bytes;  /* BPF maps, allocated at the start */
	uint64_t heap_bytes; /* of the process, with series for every cgroup of the limit */
};

/* For @cpus possible CPUs. Responses that are being sent come on top. */
void resources_compute(const struct config *config, unsigned int cpus, struct resources *ret_needs);
/*
 * Maximum number of slots for cgroups: with everything else they take at most half of @bytes. Never
 * less than the limit.
 */
uint64_t resources_most_cgroups(const struct config *config, unsigned int cpus, uint64_t bytes);
/* For the CPUs and the memory of this machine. */
uint64_t resources_most_cgroups_here(const struct config *config);
/* True if everything takes at most half of @bytes. */
bool resources_have_room(const struct config *config, unsigned int cpus, uint64_t bytes);
/*
 * Fails if the settings need more memory than is available or than a limit of our cgroups allows.
 * Leaves noise out (no_room) if there is no room for everything.
 */
int resources_check_memory(struct config *config, struct resources *ret_needs, struct err *err);
/* Raises the soft limit of descriptors for connections and our own files, at most to the hard limit. */
void resources_raise_files(const struct config *config);
/*
 * Fails if --max-connections and the descriptors that are open now do not fit. Call it when the
 * collectors are open.
 */
int resources_check_files(const struct config *config, struct err *err);

#endif
