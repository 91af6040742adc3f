/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick audit -- COMMAND`: compares the accounted and the true CPU time of a command. */
#ifndef SUBTICK_MEASURE_AUDIT_COMMAND_H
#define SUBTICK_MEASURE_AUDIT_COMMAND_H

#include <signal.h>

#include "base/cpuset.h"
#include "measure/audit/audit.h"
#include "measure/audit/modes.h"
#include "measure/load/source.h"

struct audit_command_opts {
	char *const *argv;  /* command and its arguments, ending with NULL */
	struct cpuset cpus; /* CPUs on which the command may run */
	bool out_to_err;    /* redirect standard output of the command to standard error */
	/* Timer slack and signal sets that the command inherits; set by audit_command_inherit(). */
	uint64_t slack_ns;
	sigset_t blocked, ignored;
};

/* Result of `subtick audit -- COMMAND`. A figure that was not measured is UINT64_MAX or NaN. */
struct audit_command {
	char text[256]; /* the command line, possibly truncated */
	char cpus[64];
	int status; /* exit status from wait4() */
	uint64_t window_ns;
	uint64_t rusage_user_ns, rusage_system_ns; /* CPU time as accounted by the kernel */
	/* True CPU time of the command, including its child processes. */
	uint64_t task_clock_ns;
	/* true CPU time, split by the PMU's cycle counts in user mode and kernel mode */
	uint64_t true_user_ns, true_system_ns;
	uint64_t others_ns;   /* CPU time of other tasks on the CPUs of the command */
	double rusage_factor; /* rusage CPU time ÷ true CPU time */
	double user_error;    /* (rusage user time − true user time) ÷ true CPU time */
	/* Shown and true time of each mode, summed over the CPUs of the command. */
	struct audit_level levels[AUDIT_NR_MODES];
	const char *truth; /* source of the true busy time of the command's CPUs, or NULL */
	struct err no_truth, no_clock;
	bool no_pmu;
	struct load_losses losses;
	bool stopped;
};

/*
 * Saves the timer slack and the signal dispositions that the command must inherit. Must be called
 * before subtick changes its own timer slack and signal dispositions.
 */
void audit_command_inherit(struct audit_command_opts *opts);
/* Runs the command until it exits. Sends SIGTERM to the command if env->wait() returns true. */
int audit_command(const struct audit_command_opts *opts, const struct audit_env *env,
		  struct audit_findings *findings, struct audit_command *ret_command,
		  struct err *err);
/* Computes others_ns, rusage_factor, user_error and the shares in `levels` from the readings. */
void audit_command_derive(struct audit_command *command);

#endif
