/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which idle states a run may use, and whether the other CPUs go offline during it. */
#ifndef SUBTICK_MEASURE_WAKE_FORCE_H
#define SUBTICK_MEASURE_WAKE_FORCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "host/journal.h"

struct wake_force {
	const char *state;   /* only this one, or NULL */
	const char *deepest; /* none deeper than this one, or NULL */
	bool each;	     /* each state alone, one after the other, then all */
	bool preferences;    /* each energy performance preference or bias, then as before */
	bool alone;	     /* all CPUs but the measured ones go offline */
};

bool wake_force_wanted(const struct wake_force *force);
/* @keep: a CPU that stays online for the sender even if not measured; CPUSET_MAX for none. */
int wake_force_apply(struct journal *journal, const char *root, const struct wake_force *force,
		     const struct cpuset *measured, unsigned int keep, struct err *err);

#define WAKE_PREFERENCE	     32 /* characters */
#define WAKE_MAX_PREFERENCES 8

/*
 * Rounds of --each-state, one per idle state, or of --each-preference, one per preference. One more
 * round has what was set before.
 */
struct wake_rounds {
	struct journal *journal;
	const char *root;
	struct cpuset cpus;
	unsigned int nr; /* without the last */
	uint16_t *allowed; /* states, by CPU: bit per state that was not disabled */
	/* Preferences: the file below cpuN/, its values by round, and by CPU the value before. */
	const char *file;
	char values[WAKE_MAX_PREFERENCES][WAKE_PREFERENCE];
	char (*was)[WAKE_PREFERENCE];
};

/* Reads the states or preferences of @cpus, and how they are set now. */
int wake_rounds_open(struct wake_rounds *rounds, struct journal *journal, const char *root,
		     const struct wake_force *force, const struct cpuset *cpus, struct err *err);
/* For round_begin of struct wake_plan; @arg is the struct wake_rounds. */
int wake_rounds_begin(void *arg, unsigned int round, struct err *err);
void wake_rounds_close(struct wake_rounds *rounds);
/* Number of rounds on the first of @cpus, the last included; 1 if there is nothing to choose from. */
unsigned int wake_rounds_nr(const char *root, const struct wake_force *force,
			    const struct cpuset *cpus);

#endif
