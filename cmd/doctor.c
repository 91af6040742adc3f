/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick doctor: lists the measurements that work on this machine, and fixes for the rest. */
#include "commands.h"

#include <errno.h>
#include <string.h>

#include "doctor/doctor.h"
#include "opts.h"
#include "output.h"

#define MAX_COMMANDS 16

static const struct opt options[] = {
	{0},
};

struct doctor_cmd {
	const char *names[MAX_COMMANDS]; /* names of commands; NULL ends the list */
	size_t nr;
};

/* Returns 77 if a command that the user named does not work on this machine. */
static int verdict(const struct report *report, const char *const *asked)
{
	for (; *asked; asked++) {
		const char *status = doctor_command_status(report, *asked);

		if (status && !strcmp(status, "no"))
			return EXIT_UNSUPPORTED;
	}
	return EXIT_SUCCESS;
}

static int add_command(struct opts_state *state, const char *word, void *base, struct err *err)
{
	struct doctor_cmd *cmd = base;

	if (!command_exists(word))
		return err_set(err, -EINVAL, "%.80s: not a command of this build", word);
	if (cmd->nr == MAX_COMMANDS - 1)
		return err_set(err, -E2BIG, "%s: at most %d commands", word, MAX_COMMANDS - 1);
	cmd->names[cmd->nr++] = word;
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_cmd cmd = {.names = {"load"}};
	struct doctor_opts doctor = {.commands = command_names};
	struct view view;
	struct opts_state state = {
		.command = "doctor",
		.synopsis = "doctor [options] [COMMAND...]",
		.summary =
			"List of what this machine can measure; for what it cannot, the reason and "
			"the fix.\nExit code 77 if a COMMAND (default: load) does not work at "
			"all.",
		.own = options,
		.operands = command_names,
		.view = &view,
		.tables = doctor_tables,
		.operand = add_command,
	};
	struct report *report;
	struct err err = {0};
	int code = opts_walk(&state, argc, argv, &cmd);

	if (code != OPTS_PARSED)
		return code;
	if (cmd.nr)
		doctor.commands = cmd.names;
	if (doctor_report(&doctor, &report, &err))
		return opts_fail("doctor", &err);
	code = verdict(report, cmd.names);
	output_report(&view, report, &err);
	return err.code ? opts_fail("doctor", &err) : code;
}
