/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names, claims and counters of the machine's idle states before and after a run. */
#ifndef SUBTICK_MEASURE_WAKE_ENV_H
#define SUBTICK_MEASURE_WAKE_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "host/cpuidle.h"
#include "host/machine.h"

struct wake_cpu_env {
	int nr; /* states; 0 without a driver */
	struct cpuidle_state states[CPUIDLE_MAX_STATES]; /* names and claims */
	struct cpuidle_watch watch;
	struct cpuidle_count before[CPUIDLE_MAX_STATES], after[CPUIDLE_MAX_STATES];
	bool counted; /* after was read */
};

struct wake_machine {
	unsigned int nr_states; /* idle states, most of any CPU; 0 without a driver */
	struct cpuidle idle;
	struct machine machine;
	struct virt virt;
	bool haltpoll;
	int64_t dma_latency_ns; /* what /dev/cpu_dma_latency allows; -1 when not known or no limit */
};

struct wake_env {
	const char *root;
	bool misses; /* also read how often a state did not fit, or was refused */
	struct cpuset measured;
	struct wake_cpu_env *cpus; /* by number; those not measured have no counters */
	struct wake_machine machine;
};

/* @nr_cpus: possible ones. @measured: counters of these are read. @misses: see struct wake_env. */
int wake_env_open(struct wake_env *env, const char *root, unsigned int nr_cpus,
		  const struct cpuset *measured, bool misses, struct err *err);
/* At the begin and at the end of a window. */
void wake_env_before(struct wake_env *env);
void wake_env_after(struct wake_env *env);
/* The counters read at the end of a window also begin the next: no gap. */
void wake_env_next(struct wake_env *env);
void wake_env_close(struct wake_env *env);

/* Name of a state on that CPU; the exit latency claimed for it, false if none is. */
const char *wake_env_name(const struct wake_env *env, unsigned int cpu, unsigned int state);
bool wake_env_claim(const struct wake_env *env, unsigned int cpu, unsigned int state,
		    uint64_t *ret_claimed_ns);

#endif
