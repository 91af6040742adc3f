/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The experiments of `subtick audit`, each with its report. */
#ifndef SUBTICK_CMD_AUDIT_EXPERIMENTS_H
#define SUBTICK_CMD_AUDIT_EXPERIMENTS_H

#include "present/audit.h"

struct audit_experiment {
	const char *name;
	/* A report can also come with an error: what was measured until then. */
	int (*run)(const struct audit_opts *opts, const struct audit_env *env,
		   struct audit_findings *findings, struct report **ret_report, struct err *err);
	double share; /* the part of the budget that the experiment gets if all run */
	uint64_t least_ns; /* or this, if that is more: until then it has no result */
};

/* In the order in which they run; NULL after the last one. */
const struct audit_experiment *audit_experiment(size_t index);

#endif
