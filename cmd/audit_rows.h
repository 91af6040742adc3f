/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of `subtick audit delays`: printed and saved as they are finished, resumed from a file. */
#ifndef SUBTICK_CMD_AUDIT_ROWS_H
#define SUBTICK_CMD_AUDIT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "present/audit.h"
#include "view/view.h"

struct audit_rows {
	struct view *view;
	const struct audit_opts *opts;
	const struct audit_findings *findings;
	const char *save;   /* a file that has all finished rows at any time; NULL: none */
	const char *resume; /* the file of an earlier run; NULL: none */
	struct audit_delay *earlier;
	bool gone;	   /* nothing more can be written to stdout */
	struct err failed; /* a row could not be written or saved; not set for a closed pipe */
};

/* Reads rows->resume and checks that it is from a run like this one. */
int audit_rows_resume(struct audit_rows *rows, struct audit_opts *opts, struct err *err);
/* Called by the experiment; @arg is struct audit_rows. */
bool audit_rows_done(void *arg, const struct audit_delays *delays);
void audit_rows_free(struct audit_rows *rows);

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
