/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Idle states of the kernel's cpuidle subsystem and their counters. */
#ifndef SUBTICK_SYS_CPUIDLE_H
#define SUBTICK_SYS_CPUIDLE_H

#include <stdbool.h>
#include <stdint.h>

#define CPUIDLE_MAX_STATES 10 /* CPUIDLE_STATE_MAX of the kernel */
#define CPUIDLE_UNKNOWN	   UINT64_MAX

struct cpuidle_state {
	char name[32];
	char desc[64];
	uint64_t latency_ns;   /* exit latency that the driver states */
	uint64_t residency_ns; /* target residency: the shortest stay that saves energy */
	bool residency_known; /* sysfs has the residency since Linux 4.5 */
	bool disabled;	      /* by the user, through sysfs */
	bool polls;	      /* spins instead of halting; a cycle counter sees a busy core */
};

struct cpuidle {
	char driver[32];   /* "none" without a driver; "" if the kernel lacks cpuidle */
	char governor[32]; /* "" if unknown */
};

/* -ENOENT if the kernel was built without cpuidle. */
int cpuidle_read(const char *root, struct cpuidle *ret_idle);
/* Returns the number of states, 0 without a driver, or -errno. */
int cpuidle_states(const char *root, unsigned int cpu,
		   struct cpuidle_state states[CPUIDLE_MAX_STATES]);
/* Bit n is set if idle state n of @cpu polls instead of halting. */
uint64_t cpuidle_poll_mask(const char *root, unsigned int cpu);

/* Counters of one idle state of one CPU. */
struct cpuidle_count {
	uint64_t usage; /* number of entries */
	uint64_t time_ns;
	/* The kernel has above and below since Linux 5.0, rejected since 5.9; else CPUIDLE_UNKNOWN. */
	uint64_t above;	   /* stays that were too short for the state */
	uint64_t below;	   /* stays that were long enough for a deeper state */
	uint64_t rejected; /* entries that the driver or the firmware refused */
};

#define CPUIDLE_NR_COUNTS 5

/* Counters of the idle states of one CPU, read through open descriptors. */
struct cpuidle_watch {
	int nr;	       /* number of states */
	int nr_counts; /* counters of each state */
	int fd[CPUIDLE_MAX_STATES][CPUIDLE_NR_COUNTS]; /* negative if the kernel lacks the file */
};

/*
 * Opens the counters of all states. nr is 0 without a driver or after a failure. @misses adds the
 * counters above, below and rejected.
 */
void cpuidle_watch_open(struct cpuidle_watch *watch, const char *root, unsigned int cpu,
			bool misses);
/* Fails if the CPU went offline, because its files are removed. */
int cpuidle_watch_read(const struct cpuidle_watch *watch,
		       struct cpuidle_count ret_counts[CPUIDLE_MAX_STATES]);
void cpuidle_watch_close(struct cpuidle_watch *watch);

#endif
