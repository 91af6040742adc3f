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
	uint64_t latency_ns;   /* exit latency in ns that the cpuidle driver states */
	bool disabled;	       /* true if the user disabled the idle state in sysfs */
	/* the core polls in this state, so counters of unhalted cycles count it as busy */
	bool polls;
};

struct cpuidle {
	/* name of the cpuidle driver; "none" without a driver, "" if the kernel lacks cpuidle */
	char driver[32];
	char governor[32]; /* name of the cpuidle governor, or "" */
};

/* Reads driver and governor. Returns -ENOENT if the kernel was built without cpuidle. */
int cpuidle_read(const char *root, struct cpuidle *ret_idle);
/* Returns the number of states, 0 without a driver, or -errno. */
int cpuidle_states(const char *root, unsigned int cpu,
		   struct cpuidle_state states[CPUIDLE_MAX_STATES]);
/*
 * Name and exit latency of idle state @index, one of the @nr states of cpuidle_states(). Without a
 * cpuidle driver the event cpu_idle reports state 1, or state 0 with idle=poll. The latency of a
 * polling state is CPUIDLE_UNKNOWN, because sysfs shows 0.
 */
const char *cpuidle_state_name(const struct cpuidle_state *states, int nr, unsigned int index);
uint64_t cpuidle_state_latency(const struct cpuidle_state *states, int nr, unsigned int index);
/* Bit n is set if idle state n of @cpu polls instead of halting. */
uint64_t cpuidle_poll_mask(const char *root, unsigned int cpu);

/* Counters of one idle state of one CPU. */
struct cpuidle_count {
	uint64_t usage; /* number of entries into the idle state */
	uint64_t time_ns;
	/* CPUIDLE_UNKNOWN if unavailable: above and below before Linux 5.0, rejected before 5.9 */
	uint64_t above;	   /* number of idle periods too short for this idle state */
	uint64_t below;	   /* number of idle periods long enough for a deeper idle state */
	uint64_t rejected; /* number of entries that the driver or firmware refused */
};

#define CPUIDLE_NR_COUNTS 5

/* Counters of the idle states of one CPU, read through open descriptors. */
struct cpuidle_watch {
	int nr;	       /* number of idle states of the CPU */
	int nr_counts; /* number of counters per idle state */
	/* descriptors of the counter files in sysfs; negative if the kernel lacks the file */
	int fd[CPUIDLE_MAX_STATES][CPUIDLE_NR_COUNTS];
};

/*
 * Opens the counters of all idle states. watch->nr is 0 without a cpuidle driver or after a
 * failure. If @misses is true, opens the files "above", "below" and "rejected" too.
 */
void cpuidle_watch_open(struct cpuidle_watch *watch, const char *root, unsigned int cpu,
			bool misses);
/* Fails if the CPU went offline, because the kernel then removes the sysfs files. */
int cpuidle_watch_read(const struct cpuidle_watch *watch,
		       struct cpuidle_count ret_counts[CPUIDLE_MAX_STATES]);
void cpuidle_watch_close(struct cpuidle_watch *watch);

#endif
