/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* List of subcommands. The function of a subcommand gets argv and returns an exit code. */
#ifndef SUBTICK_CMD_COMMANDS_H
#define SUBTICK_CMD_COMMANDS_H

#include "base/option.h"

/* All commands as an X macro: X(name, summary). `subtick serve` is optional at build time. */
#ifdef SUBTICK_SERVE
#define COMMANDS_SERVE(X) X(serve, "Prometheus exporter and live page")
#else
#define COMMANDS_SERVE(X)
#endif
#define COMMANDS(X)                                                                   \
	X(load, "per-core busy time, split by context")                               \
	X(runq, "run-queue latency per cgroup, and who caused it")                    \
	X(noise, "time that interrupts, softirqs and kernel threads take from tasks") \
	X(wake, "idle wake latency per idle state")                                   \
	X(trace, "every context change of a core, for a time or until an event")      \
	X(try, "the effect of a changed setting, by an experiment that restores it")  \
	X(audit, "error of the kernel's own CPU figures on this machine")             \
	X(crit, "cost of disabling and enabling interrupts and preemption")           \
	X(diff, "changes between two files of saved output")                          \
	X(doctor, "what this machine can measure, and fixes for what it cannot")       \
	X(report, "one self-contained HTML file with plots")                          \
	COMMANDS_SERVE(X)

#define COMMAND_DECLARE(name, summary) int cmd_##name(int argc, char **argv);
COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

int cmd_overview(int argc, char **argv);
extern const struct opt overview_options[];

#endif
