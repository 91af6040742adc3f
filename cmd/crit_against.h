/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads an earlier run of subtick crit --json back. */
#ifndef SUBTICK_CMD_CRIT_AGAINST_H
#define SUBTICK_CMD_CRIT_AGAINST_H

#include "base/err.h"
#include "measure/crit/report.h"

/* The first object of @path; what it did not measure has no rounds. */
int crit_against_read(const char *path, struct crit_baseline *ret_baseline, struct err *err);
/* Whether @engine's figures can be held against it: same engine, hence unit, and same work. */
int crit_against_check(const struct crit_baseline *baseline, const struct crit_engine *engine,
		       const struct crit_opts *opts, struct err *err);

#endif
