/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hidden task: it uses a share of a core, and tick accounting does not see it. */
#ifndef SUBTICK_MEASURE_AUDIT_HIDE_H
#define SUBTICK_MEASURE_AUDIT_HIDE_H

#include "measure/audit/audit.h"
#include "measure/audit/samples.h"
#include "stats/audit.h"

#define AUDIT_PROBES 16

struct audit_hide {
	uint64_t period_ns;
	struct phase_probe probes[AUDIT_PROBES];
	bool enough; /* most probes are valid, so the result is conclusive */
	bool hidden, exposed;
	/* Phases with the smallest and the largest visible share. */
	uint64_t hidden_phase_ns, exposed_phase_ns;
	bool stopped;
};

/*
 * Tries a burn of @share of every @period_ns at several phases of the tick. Finds the phases with
 * the smallest and the largest share in /proc/stat. A probe during which other tasks used much of
 * the core is tried again, at most twice, and not after @until_ns (CLOCK_MONOTONIC).
 */
int audit_hide_search(struct audit_samples *samples, double share, uint64_t period_ns,
		      uint64_t until_ns, const struct audit_env *env, struct audit_hide *ret_hide,
		      struct err *err);

#endif
