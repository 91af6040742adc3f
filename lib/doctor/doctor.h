/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What this machine can measure, and for what it can't, why and what to do. */
#ifndef SUBTICK_DOCTOR_H
#define SUBTICK_DOCTOR_H

#include "base/err.h"
#include "report/report.h"
#include "sys/probe.h"

struct doctor_opts {
	const char *root;	     /* of /proc, /sys, /boot …; NULL: this machine's */
	const struct probe *probe;   /* what system calls said; NULL: ask them now */
	const char *const *commands; /* subcommands of this build, NULL-terminated */
};

/* Tables "checks" and "commands". Disturbs nothing. */
int doctor_report(const struct doctor_opts *opts, struct report **ret_report, struct err *err);

/* "full", "part" or "no" of a command in such a report; NULL if it is not there. */
const char *doctor_command_status(const struct report *report, const char *command);

#endif
