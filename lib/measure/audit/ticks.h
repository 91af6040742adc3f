/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick audit ticks`: measures times between changes of /proc/stat, and finds the tick. */
#ifndef SUBTICK_MEASURE_AUDIT_TICKS_H
#define SUBTICK_MEASURE_AUDIT_TICKS_H

#include "measure/audit/audit.h"

enum audit_ticks_load {
	AUDIT_TICKS_TWO_MODES, /* load that mixes user and system time */
	AUDIT_TICKS_WITH_IDLE,
	AUDIT_TICKS_SOFTIRQS,
	AUDIT_TICKS_NR_LOADS,
};

/* A load, and the columns of /proc/stat that are watched while the load runs. */
enum audit_ticks_set {
	AUDIT_SET_TWO_MODES_BUSY,
	AUDIT_SET_TWO_MODES_ALL,
	AUDIT_SET_WITH_IDLE_BUSY,
	AUDIT_SET_WITH_IDLE_ALL,
	AUDIT_SET_SOFTIRQS,
	AUDIT_NR_SETS,
};

struct audit_ticks {
	struct counter_edges edges[AUDIT_NR_SETS];
	struct audit_watch watch[AUDIT_TICKS_NR_LOADS];
	struct err skipped[AUDIT_TICKS_NR_LOADS]; /* reason why each load was skipped */
	/* subtick may use only one core; the reader of /proc/stat is then part of the load */
	bool alone;
	bool stopped;
	uint64_t window_ns;
};

enum audit_ticks_load audit_ticks_load_of(enum audit_ticks_set set);
/* The caller must call audit_ticks_free(), even after a failure. */
int audit_ticks(const struct audit_opts *opts, const struct audit_env *env,
		struct audit_findings *findings, struct audit_ticks *ret_ticks, struct err *err);
void audit_ticks_free(struct audit_ticks *ticks);

#endif
