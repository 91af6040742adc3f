/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a command of the user and prints what the kernel accounts for it, and what it used. */
#include "audit_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "present/audit.h"
#include "opts.h"
#include "output.h"
#include "run.h"
#include "sys/affinity.h"

int audit_command_run(char *const *argv, int cpu, struct view *view)
{
	struct audit_command_opts opts = {.argv = argv, .out_to_err = view->format != VIEW_TEXT};
	struct audit_env env = {.wait = run_wait};
	struct audit_findings findings = {0};
	struct audit_command command;
	struct report *report;
	struct err err = {0};
	int code;

	audit_command_inherit(&opts);
	run_signals();
	if (cpu >= 0) {
		cpuset_add(&opts.cpus, (unsigned int)cpu);
		run_avoid(&opts.cpus);
	} else if (affinity_get(0, &opts.cpus)) {
		err_set(&err, -errno, "cannot read the CPUs of this process: %s", strerror(errno));
		return opts_fail("audit", &err);
	}
	if (audit_command(&opts, &env, &findings, &command, &err) ||
	    audit_command_report(&findings, &command, &report, &err))
		return opts_fail("audit", &err);
	output_report(view, report, &err);
	code = err.code ? opts_fail("audit", &err) : EXIT_SUCCESS;
	/* A script that runs its program this way must notice that the program failed. */
	if (!code && (!WIFEXITED(command.status) || WEXITSTATUS(command.status))) {
		fprintf(stderr, "subtick audit: the command %s %d\n",
			WIFEXITED(command.status) ? "exited with" : "was ended by signal",
			WIFEXITED(command.status) ? WEXITSTATUS(command.status)
						  : WTERMSIG(command.status));
		code = EXIT_ERROR;
	}
	return code;
}
