/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The subcommands: argv in, exit code out. */
#ifndef SUBTICK_CMD_COMMANDS_H
#define SUBTICK_CMD_COMMANDS_H

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
};

/* Ended by a NULL name. */
extern const struct command commands[];

int cmd_overview(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_load(int argc, char **argv);
int cmd_crit(int argc, char **argv);
int cmd_wake(int argc, char **argv);
int cmd_runq(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_serve(int argc, char **argv); /* only in builds with the exporter */

#endif
