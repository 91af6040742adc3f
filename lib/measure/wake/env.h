/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Idle states of the machine: names, claimed exit latencies, counters before and after a window. */
#ifndef SUBTICK_MEASURE_WAKE_ENV_H
#define SUBTICK_MEASURE_WAKE_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "host/cpuidle.h"
#include "host/machine.h"

struct wake_cpu_env {
	int nr; /* number of idle states, or 0 without a cpuidle driver */
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	struct cpuidle_watch watch;
	struct cpuidle_count before[CPUIDLE_MAX_STATES], after[CPUIDLE_MAX_STATES];
	bool counted; /* true if the counters in `after` are valid */
};

struct wake_machine {
	/* largest number of idle states of any CPU; 0 without a cpuidle driver */
	unsigned int nr_states;
	struct cpuidle idle;
	struct machine machine;
	struct virt virt;
	bool haltpoll;
	/* limit of /dev/cpu_dma_latency; -1 if unknown or if there is no limit */
	int64_t dma_latency_ns;
};

struct wake_env {
	const char *root;
	bool misses; /* also read the cpuidle counters `above`, `below` and `rejected` */
	struct cpuset measured;
	struct wake_cpu_env *cpus; /* index: CPU number; only CPUs in `measured` have counters */
	struct wake_machine machine;
};

/* @nr_cpus is the number of possible CPUs. @measured are the CPUs whose counters are read. */
int wake_env_open(struct wake_env *env, const char *root, unsigned int nr_cpus,
		  const struct cpuset *measured, bool misses, struct err *err);
/*
 * Begins a window with the counter values from the end of the previous window. Reads the counters
 * of a CPU that has no values from the previous window.
 */
void wake_env_begin(struct wake_env *env);
void wake_env_end(struct wake_env *env);
void wake_env_close(struct wake_env *env);

const char *wake_env_name(const struct wake_env *env, unsigned int cpu, unsigned int state);

#endif
