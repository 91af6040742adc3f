/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The idle states of the cores, from the kernel's cpuidle. */
#ifndef SUBTICK_SYS_CPUIDLE_H
#define SUBTICK_SYS_CPUIDLE_H

#include <stdbool.h>
#include <stdint.h>

#define CPUIDLE_MAX_STATES 10 /* CPUIDLE_STATE_MAX of the kernel */
#define CPUIDLE_UNKNOWN	   UINT64_MAX

struct cpuidle_state {
	char name[32];
	char desc[64];
	uint64_t latency_ns;   /* claimed exit latency */
	uint64_t residency_ns; /* target residency: the shortest stay that saves energy */
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
/* Bit n: idle state n of this CPU polls instead of halting. */
uint64_t cpuidle_poll_mask(const char *root, unsigned int cpu);

/* Counters of one idle state of one CPU. */
struct cpuidle_count {
	uint64_t usage; /* times entered */
	uint64_t time_ns;
	/* CPUIDLE_UNKNOWN unless the watch has them: since Linux 5.0, rejected since 5.9. */
	uint64_t above;	   /* stays that were too short for the state */
	uint64_t below;	   /* stays that were long enough for a deeper one */
	uint64_t rejected; /* entries that the driver or the firmware refused */
};

#define CPUIDLE_NR_COUNTS 5

/* The counters of one CPU's idle states, read through descriptors that stay open. */
struct cpuidle_watch {
	int nr;	       /* states */
	int nr_counts; /* of each state */
	int fd[CPUIDLE_MAX_STATES][CPUIDLE_NR_COUNTS]; /* negative: the kernel lacks the file */
};

/*
 * All states or none: nr is 0 without a driver, or if usage and time cannot be opened. @misses:
 * also above, below and rejected.
 */
void cpuidle_watch_open(struct cpuidle_watch *watch, const char *root, unsigned int cpu,
			bool misses);
/* -errno if a file was removed, as when the CPU went offline. */
int cpuidle_watch_read(const struct cpuidle_watch *watch,
		       struct cpuidle_count ret_counts[CPUIDLE_MAX_STATES]);
void cpuidle_watch_close(struct cpuidle_watch *watch);

#endif
