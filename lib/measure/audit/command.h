/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* audit -- COMMAND: what the kernel accounts for a program of the user, and what it used. */
#ifndef SUBTICK_MEASURE_AUDIT_COMMAND_H
#define SUBTICK_MEASURE_AUDIT_COMMAND_H

#include <signal.h>

#include "base/cpuset.h"
#include "measure/audit/audit.h"
#include "measure/audit/modes.h"
#include "measure/load/source.h"

struct audit_command_opts {
	char *const *argv;  /* ends with NULL */
	struct cpuset cpus; /* on which the command may run */
	bool out_to_err;    /* its standard output goes to standard error */
	/*
	 * Timer slack and signals as inherited from the user's shell, saved by
	 * audit_command_inherit().
	 */
	uint64_t slack_ns;
	/* Blocked signals, and those handled by subtick that the shell ignores. */
	sigset_t blocked, ignored;
};

/* A missing figure is UINT64_MAX or NaN. */
struct audit_command {
	char text[256]; /* the command line, possibly cut off */
	char cpus[64];
	int status; /* as wait4() gives it */
	uint64_t window_ns;
	uint64_t rusage_user_ns, rusage_system_ns; /* accounted */
	uint64_t task_clock_ns;			   /* used, of the command and its descendants */
	uint64_t true_user_ns, true_system_ns;	   /* the task clock, split as the PMU's cycles */
	uint64_t others_ns;   /* tasks on these CPUs that are not the command's */
	double rusage_factor; /* accounted ÷ used */
	double user_error;    /* accounted minus used, as a share of the used time */
	struct audit_level levels[AUDIT_NR_MODES]; /* of these CPUs together */
	const char *truth; /* source of the true busy time of these CPUs, or NULL */
	struct err no_truth, no_clock;
	bool no_pmu;
	struct load_losses losses;
	bool stopped;
};

/*
 * Saves the signal and slack settings that the command must inherit. Call it before subtick changes
 * them.
 */
void audit_command_inherit(struct audit_command_opts *opts);
/* Runs the command and waits for its end. A request to stop sends SIGTERM to the command. */
int audit_command(const struct audit_command_opts *opts, const struct audit_env *env,
		  struct audit_findings *findings, struct audit_command *ret_command,
		  struct err *err);
/* Figures computed from the readings. */
void audit_command_derive(struct audit_command *command);

#endif
