/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the memory and descriptors that the settings need with the limits. */
#include "serve/export/resource_limits.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "abi/noise.h"
#include "measure/load/pairs.h"
#include "measure/runq/avoidable.h"
#include "measure/runq/pressure.h"
#include "measure/runq/runq.h"
#include "stats/hist.h"
#include "host/cpu.h"
#include "host/file.h"
#include "host/meminfo.h"

/* Memory sizes in bytes; docs/methods/serve.md describes how the sizes were measured. */
#define BASE_BYTES   (8ULL << 20)
#define CGROUP_BYTES 4096
/* Bytes for the native histogram buckets of a cgroup, and for their copy during scrapes. */
#define NATIVE_BYTES (2 * NATIVE_FINE_WORDS * sizeof(uint64_t))
/* Bytes for the eight pressure counters of a cgroup, and for their copy during scrapes. */
#define PRESSURE_BYTES 4096
#define CPU_BYTES    (16ULL << 10)
/*
 * Bytes per CPU for series of noise sources, their copy during scrapes, and the lists of a window.
 */
#define NOISE_BYTES (64ULL << 10)
/* Descriptors opened after resources_check_files(): event loop, listeners, token … */
#define MORE_FILES 32

struct resources resources_compute(const struct config *config, unsigned int cpus)
{
	struct resources needs = {.map_bytes = cpus * CPU_BYTES, .heap_bytes = BASE_BYTES};

	if (config_collects(config, CONFIG_COLLECT_noise)) {
		needs.map_bytes += cpus * sizeof(struct noise_cpu);
		needs.heap_bytes += cpus * (sizeof(struct noise_cpu) + NOISE_BYTES);
	}
	if (config->core_pairs) {
		needs.map_bytes += LOAD_PAIRS_MAP_BYTES;
		needs.heap_bytes += LOAD_PAIRS_HEAP_BYTES;
	}
	if (config_collects(config, CONFIG_COLLECT_runq)) {
		needs.map_bytes += runq_memory_bytes(config->cgroup_limit, cpus, config->fine);
		needs.heap_bytes += config->cgroup_limit * CGROUP_BYTES;
		if (config->avoidable)
			needs.map_bytes += RUNQ_AVOIDABLE_BYTES;
		if (config->pressure) {
			needs.map_bytes += RUNQ_PRESSURE_BYTES;
			needs.heap_bytes += config->cgroup_limit * PRESSURE_BYTES;
		}
		if (config->native_histograms && config->fine)
			needs.heap_bytes += config->cgroup_limit * NATIVE_BYTES;
	}
	return needs;
}

static uint64_t sum_bytes(struct resources needs)
{
	return needs.map_bytes + needs.heap_bytes;
}

/*
 * Returns the available memory in bytes, or the memory limit of the exporter's cgroups if the limit
 * is lower. @ret_limit is the limit, or UINT64_MAX.
 */
static uint64_t memory_bytes(uint64_t *ret_limit)
{
	uint64_t limit = memlimit_bytes(NULL), available = UINT64_MAX;

	/* Unknown available memory passes the check, and an allocation may fail later. */
	meminfo_available(NULL, &available);
	*ret_limit = limit;
	return limit < available ? limit : available;
}

uint64_t resources_most_cgroups(const struct config *config, unsigned int cpus, uint64_t bytes)
{
	uint64_t low = config->cgroup_limit, high = RUNQ_NR_SLOTS;
	uint64_t fixed = sum_bytes(resources_compute(config, cpus)) -
			 runq_memory_bytes(config->cgroup_limit, cpus, config->fine);

	while (low < high) {
		uint64_t middle = (low + high + 1) / 2;

		if (fixed + runq_memory_bytes(middle, cpus, config->fine) <= bytes / 2)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

uint64_t resources_most_cgroups_here(const struct config *config)
{
	unsigned int cpus;
	uint64_t limit;

	/* cpu_nr() succeeds, because the collectors have read the list of possible CPUs before. */
	return cpu_nr(&cpus, NULL) ? config->cgroup_limit
				   : resources_most_cgroups(config, cpus, memory_bytes(&limit));
}

bool resources_have_room(const struct config *config, unsigned int cpus, uint64_t bytes)
{
	return sum_bytes(resources_compute(config, cpus)) <= bytes / 2;
}

int resources_check_memory(struct config *config, struct resources *ret_needs, struct err *err)
{
	const uint32_t noise = 1u << CONFIG_COLLECT_noise;
	uint64_t limit, bytes = memory_bytes(&limit), all;
	unsigned int cpus;
	int rc = cpu_nr(&cpus, err);

	if (rc)
		return rc;
	if (config->collect & noise && config->collect != noise &&
	    !resources_have_room(config, cpus, bytes))
		config->no_room = noise;
	*ret_needs = resources_compute(config, cpus);
	all = sum_bytes(*ret_needs);
	if (all <= bytes)
		return 0;
	return err_set(err, -ENOMEM,
		       "--cgroup-limit %llu needs %llu MiB of memory (BPF maps: %llu MiB), but %s "
		       "%llu MiB: lower --cgroup-limit, or leave out runq with --collect",
		       (unsigned long long)config->cgroup_limit, RESOURCES_MIB(all),
		       RESOURCES_MIB(ret_needs->map_bytes),
		       limit == bytes ? "the memory limit of the cgroup is" : "the machine has",
		       RESOURCES_MIB(bytes));
}

int resources_check_files(const struct config *config, struct err *err)
{
	rlim_t used, left;
	struct rlimit limit;
	int next = dup(STDERR_FILENO);

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return err_set(err, -errno, "cannot read the limit of file descriptors");
	/* dup() returns the lowest free descriptor, so all lower descriptors are in use. */
	used = (next < 0 ? limit.rlim_cur : (rlim_t)next) + MORE_FILES;
	fd_close(&next);
	if (limit.rlim_cur <= used)
		return err_set(err, -EMFILE,
			       "%llu file descriptors are needed without a connection, the limit is "
			       "%llu: raise the limit (LimitNOFILE= of systemd, ulimit -n)",
			       (unsigned long long)used, (unsigned long long)limit.rlim_cur);
	left = limit.rlim_cur - used;
	if (left < config->max_connections)
		return err_set(err, -EMFILE,
			       "--max-connections %llu needs %llu file descriptors, the limit is "
			       "%llu: raise the limit (LimitNOFILE= of systemd, ulimit -n), or set "
			       "--max-connections to %llu or less",
			       (unsigned long long)config->max_connections,
			       (unsigned long long)(used + config->max_connections),
			       (unsigned long long)limit.rlim_cur, (unsigned long long)left);
	return 0;
}
