/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The idle states of the cores, from the kernel's cpuidle. */
#ifndef SUBTICK_SYS_CPUIDLE_H
#define SUBTICK_SYS_CPUIDLE_H

#include <stdbool.h>
#include <stdint.h>

#define CPUIDLE_MAX_STATES 10 /* CPUIDLE_STATE_MAX of the kernel */

struct cpuidle_state {
	char name[32];
	char desc[64];
	uint64_t latency_ns;   /* claimed exit latency */
	uint64_t residency_ns; /* target residency: the shortest stay that saves energy */
	uint64_t usage;	       /* times entered */
	uint64_t time_ns;
	bool residency_known; /* sysfs has it since Linux 4.5 */
	bool disabled;	      /* by the user, through sysfs */
	bool polls;	      /* spins instead of halting: busy to a cycle counter */
};

struct cpuidle {
	char driver[32];   /* "none" without one; "" if the kernel lacks cpuidle */
	char governor[32]; /* "" if unknown */
};

/* -ENOENT if the kernel was built without cpuidle. */
int cpuidle_read(const char *root, struct cpuidle *ret_idle);
/* Fills @states by index and returns how many; 0 without a driver, -errno on failure. */
int cpuidle_states(const char *root, unsigned int cpu,
		   struct cpuidle_state states[CPUIDLE_MAX_STATES]);

#endif
