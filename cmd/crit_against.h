/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads an earlier run of subtick crit --json back. */
#ifndef SUBTICK_CMD_CRIT_AGAINST_H
#define SUBTICK_CMD_CRIT_AGAINST_H

#include "base/err.h"
#include "present/crit.h"

/* The first object of @path; an operation that it did not measure has 0 rounds. */
int crit_against_read(const char *path, struct crit_baseline *ret_baseline, struct err *err);
/* 0 if @engine's figures can be compared with it: same engine, hence same unit, and same work. */
int crit_against_check(const struct crit_baseline *baseline, const struct crit_engine *engine,
		       const struct crit_opts *opts, struct err *err);

#endif
