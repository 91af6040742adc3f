/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What this machine can measure; for each thing it can't, why, and the fix. */
#ifndef SUBTICK_DOCTOR_H
#define SUBTICK_DOCTOR_H

#include "base/err.h"
#include "doctor/check.h"
#include "report/columns.h"

struct doctor_opts {
	const char *root;	     /* of /proc, /sys, /boot …; NULL: this machine's */
	const struct probe *probe;   /* results of system calls; NULL: make them now */
	const char *const *commands; /* subcommands of this build, NULL-terminated */
};

/* Makes the tables "checks" and "commands". Measures and changes nothing. */
extern const struct table_spec *const doctor_tables[]; /* NULL-terminated */

int doctor_report(const struct doctor_opts *opts, struct report **ret_report, struct err *err);

/* The status of a command in such a report: "full", "part" or "no"; NULL if it is not listed. */
const char *doctor_command_status(const struct report *report, const char *command);

#endif
