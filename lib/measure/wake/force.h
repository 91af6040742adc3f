/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which idle states a run may use, and whether the other CPUs go offline during it. */
#ifndef SUBTICK_MEASURE_WAKE_FORCE_H
#define SUBTICK_MEASURE_WAKE_FORCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "sys/journal.h"

struct wake_force {
	const char *state;   /* only this one, or NULL */
	const char *deepest; /* none deeper than this one, or NULL */
	bool each;	     /* each state alone, one after the other, then all */
	bool alone;	     /* all CPUs but the measured ones go offline */
};

bool wake_force_wanted(const struct wake_force *force);
/* @keep: a CPU that stays online for the sender even if not measured; CPUSET_MAX for none. */
int wake_force_apply(struct journal *journal, const char *root, const struct wake_force *force,
		     const struct cpuset *measured, unsigned int keep, struct err *err);

/* Rounds of --each-state: one per idle state, and one with those that were allowed before. */
struct wake_rounds {
	struct journal *journal;
	const char *root;
	struct cpuset cpus;
	int nr_states;	   /* most of any CPU */
	uint16_t *allowed; /* by CPU: bit per state that was not disabled */
};

/* Reads which states there are and allowed now. */
int wake_rounds_open(struct wake_rounds *rounds, struct journal *journal, const char *root,
		     const struct cpuset *cpus, struct err *err);
/* For round_begin of struct wake_plan; @arg is the struct wake_rounds. */
int wake_rounds_begin(void *arg, unsigned int round, struct err *err);
void wake_rounds_close(struct wake_rounds *rounds);
/* How many there would be on the first of @cpus: 1 without idle states to choose from. */
unsigned int wake_rounds_nr(const char *root, const struct cpuset *cpus);

#endif
