/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of `subtick audit`. */
#ifndef SUBTICK_CMD_AUDIT_OPTS_H
#define SUBTICK_CMD_AUDIT_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "audit_rows.h"
#include "present/audit.h"
#include "view/view.h"

#define AUDIT_MAX_DELAYS 256
#define AUDIT_MAX_SLACKS 4

struct audit_cmd {
	struct audit_opts opts;
	uint64_t delays_ns[AUDIT_MAX_DELAYS];
	uint64_t slacks_ns[AUDIT_MAX_SLACKS];
	bool cpu_given;
	char **command;	  /* after "--"; NULL: an experiment */
	const char *only; /* ticks, delays, sources, precision; NULL: all */
	double want, fail_over;
	uint64_t hz;
	const char *plot;
	const char *paper; /* directory for the figures of the paper; NULL: none */
	struct audit_rows rows;
	struct view view;
	struct audit_findings findings;
};

/* OPTS_PARSED, or the exit code. */
int audit_opts_parse(struct audit_cmd *cmd, int argc, char **argv);

#endif
