/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory and descriptors that the settings need, and the limits of this process. */
#ifndef SUBTICK_SERVE_RESOURCE_LIMITS_H
#define SUBTICK_SERVE_RESOURCE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/config.h"

/* Mebibytes for messages, rounded up. */
#define RESOURCES_MIB(bytes) (((unsigned long long)(bytes) + (1 << 20) - 1) >> 20)

struct resources {
	uint64_t map_bytes;  /* BPF maps, allocated at the start */
	uint64_t heap_bytes; /* heap of the process with --cgroup-limit cgroups */
};

/* Computes the memory for @cpus possible CPUs, without responses being sent. */
void resources_compute(const struct config *config, unsigned int cpus, struct resources *ret_needs);
/*
 * Maximum number of cgroup slots for which all memory together is at most half of @bytes. At least
 * --cgroup-limit.
 */
uint64_t resources_most_cgroups(const struct config *config, unsigned int cpus, uint64_t bytes);
/* resources_most_cgroups() with the CPUs and the memory of this machine. */
uint64_t resources_most_cgroups_here(const struct config *config);
/* True if the settings need at most half of @bytes. */
bool resources_have_room(const struct config *config, unsigned int cpus, uint64_t bytes);
/*
 * Fails if the settings need more memory than the machine or the limit of the exporter's cgroups
 * has. Disables noise (no_room) if all collectors together need more than half of it.
 */
int resources_check_memory(struct config *config, struct resources *ret_needs, struct err *err);
/*
 * Raises the soft limit of descriptors to the number that the settings need, at most to the hard
 * limit.
 */
void resources_raise_files(const struct config *config);
/*
 * Fails if open descriptors and --max-connections exceed the limit. Call it after the collectors
 * are open.
 */
int resources_check_files(const struct config *config, struct err *err);

#endif
