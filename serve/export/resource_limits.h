/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory and descriptors that the settings need, and the limits of this process. */
#ifndef SUBTICK_SERVE_RESOURCE_LIMITS_H
#define SUBTICK_SERVE_RESOURCE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/config.h"

/* Converts bytes to mebibytes for messages, rounded up. */
#define RESOURCES_MIB(bytes) (((unsigned long long)(bytes) + (1 << 20) - 1) >> 20)

struct resources {
	uint64_t map_bytes;  /* bytes of the BPF maps, which are allocated at the start */
	uint64_t heap_bytes; /* heap size of the process in bytes, with --cgroup-limit cgroups */
};

/*
 * Computes the memory that the settings need with @cpus possible CPUs, without the memory of
 * responses that are being sent.
 */
struct resources resources_compute(const struct config *config, unsigned int cpus);
/* Maximum number of cgroup slots whose memory fits in half of @bytes; at least --cgroup-limit. */
uint64_t resources_most_cgroups(const struct config *config, unsigned int cpus, uint64_t bytes);
/* Calls resources_most_cgroups() with the number of CPUs and the memory of this machine. */
uint64_t resources_most_cgroups_here(const struct config *config);
/* True if the settings need at most half of @bytes. */
bool resources_have_room(const struct config *config, unsigned int cpus, uint64_t bytes);
/*
 * Disables collector noise (config.no_room) if all collectors need more than half of the memory of
 * the machine or of the exporter's cgroups. Fails if the collectors need more than half even
 * without collector noise.
 */
int resources_check_memory(struct config *config, struct resources *ret_needs, struct err *err);
/*
 * Fails if the open descriptors and --max-connections together exceed the limit of descriptors.
 * Call resources_check_files() after the collectors are opened.
 */
int resources_check_files(const struct config *config, struct err *err);

#endif
