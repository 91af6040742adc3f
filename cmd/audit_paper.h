/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick audit --paper`: figures 1, 2, 4, 5 and table 1 of the paper, on this machine. */
#ifndef SUBTICK_CMD_AUDIT_PAPER_H
#define SUBTICK_CMD_AUDIT_PAPER_H

#include "audit_rows.h"

/* Estimated time of the run. */
uint64_t audit_paper_takes(const struct audit_opts *opts);
/* Runs ticks and delays and writes the files of cmd->paper. -EPIPE with @err untouched: see output_report(). */
int audit_paper(struct audit_cmd *cmd, const struct audit_env *env, struct err *err);

#endif
