/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of a run: enabled idle states, energy preferences, and CPUs to take offline. */
#ifndef SUBTICK_MEASURE_WAKE_FORCE_H
#define SUBTICK_MEASURE_WAKE_FORCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/cpuset.h"
#include "base/err.h"
#include "host/journal.h"

struct wake_force {
	const char *state;   /* name of the only enabled idle state, or NULL */
	const char *deepest; /* name of the deepest enabled idle state, or NULL */
	/* one round per idle state with only this state enabled, then one with all states */
	bool each;
	/* one round per energy preference or bias value, then one round with the original value */
	bool preferences;
	bool alone;	     /* take all CPUs offline that are not measured */
};

bool wake_force_wanted(const struct wake_force *force);
/* Applies the settings. @keep is a CPU that stays online for the sender thread, or CPUSET_MAX. */
int wake_force_apply(struct journal *journal, const char *root, const struct wake_force *force,
		     const struct cpuset *measured, unsigned int keep, struct err *err);

#define WAKE_PREFERENCE	     32 /* maximum size of the name of an energy preference, with the NUL */
#define WAKE_MAX_PREFERENCES 8

/*
 * Rounds of --each-state (one per idle state) or of --each-preference (one per preference). An
 * additional last round uses the original settings.
 */
struct wake_rounds {
	struct journal *journal;
	const char *root;
	struct cpuset cpus;
	/* number of rounds, without the last round that uses the original settings */
	unsigned int nr;
	/* idle states that were enabled before the run; bit mask by CPU */
	uint16_t *allowed;
	/*
	 * Only for energy preferences. file: name of the preference's file below cpuN/, or NULL for
	 * idle states. values: value of each round. was: original value by CPU.
	 */
	const char *file;
	char values[WAKE_MAX_PREFERENCES][WAKE_PREFERENCE];
	char (*was)[WAKE_PREFERENCE];
};

/*
 * Reads the idle states or energy preferences of @cpus, and their current settings. The arrays of
 * @rounds are valid until @memory is freed.
 */
int wake_rounds_open(struct wake_rounds *rounds, struct blocks *memory, struct journal *journal,
		     const char *root, const struct wake_force *force, const struct cpuset *cpus,
		     struct err *err);
int wake_rounds_begin(struct wake_rounds *rounds, unsigned int round, struct err *err);
/*
 * Returns the number of rounds for the idle states or energy preferences of the first CPU in @cpus,
 * including the last round with the original settings. Returns 1 if the first CPU has no idle
 * states or preferences.
 */
unsigned int wake_rounds_nr(const char *root, const struct wake_force *force,
			    const struct cpuset *cpus);

#endif
