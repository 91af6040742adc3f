/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the machine says about its idle states before and after a run. */
#ifndef SUBTICK_MEASURE_WAKE_ENV_H
#define SUBTICK_MEASURE_WAKE_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/cpuidle.h"
#include "sys/machine.h"
#include "sys/virt.h"

struct wake_cpu_env {
	int nr; /* states; 0 without a driver */
	struct cpuidle_state before[CPUIDLE_MAX_STATES];
	struct cpuidle_state after[CPUIDLE_MAX_STATES];
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
	unsigned int nr_cpus;
	bool misses; /* also read how often a state did not fit, or was refused */
	struct wake_cpu_env *cpus;
	struct wake_machine machine;
};

int wake_env_open(struct wake_env *env, const char *root, unsigned int nr_cpus, struct err *err);
/* Model and settings of the CPUs that are measured. */
void wake_env_machine(struct wake_env *env, const struct cpuset *cpus);
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
