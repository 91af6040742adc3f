/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which idle states a run may use, and whether the other CPUs go offline during it. */
#ifndef SUBTICK_MEASURE_WAKE_FORCE_H
#define SUBTICK_MEASURE_WAKE_FORCE_H

#include <stdbool.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "sys/journal.h"

struct wake_force {
	const char *state;   /* only this one, or NULL */
	const char *deepest; /* none deeper than this one, or NULL */
	bool alone;	     /* all CPUs but the measured ones go offline */
};

bool wake_force_wanted(const struct wake_force *force);
/* @keep: a CPU that stays online for the sender even if not measured; CPUSET_MAX for none. */
int wake_force_apply(struct journal *journal, const char *root, const struct wake_force *force,
		     const struct cpuset *measured, unsigned int keep, struct err *err);

#endif
