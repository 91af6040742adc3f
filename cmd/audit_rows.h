/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Command line of `subtick audit`, and rows of `audit delays` that are saved and resumed. */
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
	const char *save;   /* path of the file to which all finished rows are saved, or NULL */
	const char *resume; /* path of the file with rows of an earlier run, or NULL */
	struct audit_delay *earlier;
	bool gone; /* true after a failed write to stdout */
	/* first error of printing or saving a row; not set if stdout is a closed pipe */
	struct err failed;
};

/*
 * Reads the rows of an earlier run from the file rows->resume. Fails if the earlier run had another
 * machine or other settings.
 */
int audit_rows_resume(struct audit_rows *rows, struct audit_opts *opts, struct err *err);
/* Callback "row" of struct audit_env: prints and saves a finished row. @arg: struct audit_rows. */
bool audit_rows_done(void *arg, const struct audit_delays *delays);
void audit_rows_free(struct audit_rows *rows);

#define AUDIT_MAX_DELAYS 256
#define AUDIT_MAX_SLACKS 4

struct audit_cmd {
	struct audit_opts opts;
	uint64_t delays_ns[AUDIT_MAX_DELAYS];
	uint64_t slacks_ns[AUDIT_MAX_SLACKS];
	bool cpu_given;
	char **command;	  /* command after "--", or NULL for an experiment */
	/* experiment to run: "ticks", "delays", "sources" or "precision"; NULL for all */
	const char *only;
	double want, fail_over;
	uint64_t hz;
	const char *plot;
	const char *paper; /* directory for the figures of --paper, or NULL */
	struct audit_rows rows;
	struct view view;
	struct audit_findings findings;
};

/* Parses the command line of `subtick audit`. Returns OPTS_PARSED, or the exit code. */
int audit_opts_parse(struct audit_cmd *cmd, int argc, char **argv);

/*
 * Runs `subtick audit --paper`: repeats figures 1, 2, 4, 5 and table 1 of the paper on this
 * machine, as files in cmd->paper. Returns -EPIPE without setting @err if the reader closed the
 * pipe.
 */
int audit_paper(struct audit_cmd *cmd, const struct audit_env *env, struct err *err);

#endif
