/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports the measurements that this machine supports, with reason and fix for each unsupported
 * measurement.
 */
#ifndef SUBTICK_DOCTOR_H
#define SUBTICK_DOCTOR_H

#include "base/err.h"
#include "doctor/check.h"
#include "report/columns.h"

struct doctor_opts {
	const char *root;	     /* root of /proc, /sys, /boot …, or NULL for this machine */
	const struct probe *probe;   /* results of system calls, or NULL to make the calls */
	const char *const *commands; /* subcommands of this build, NULL-terminated */
};

/* Makes the tables "checks" and "commands". Measures and changes nothing. */
extern const struct table_spec *const doctor_tables[]; /* NULL-terminated */

int doctor_report(const struct doctor_opts *opts, struct report **ret_report, struct err *err);

/*
 * Status of a command in a report of doctor: "full", "part" or "no", or NULL if the command is not
 * listed.
 */
const char *doctor_command_status(const struct report *report, const char *command);

#endif
