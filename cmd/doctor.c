/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick doctor: what this machine can measure, and how to fix what it can't. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "measure/doctor.h"
#include "opts.h"

#define MAX_COMMANDS 16

static const struct opt options[] = {
	{NULL, 0, NULL, NULL, 0},
};

static bool command_exists(const char *name)
{
	for (const struct command *command = commands; command->name; command++)
		if (!strcmp(command->name, name))
			return true;
	return false;
}

static void command_names(const char **names)
{
	size_t nr = 0;

	for (const struct command *command = commands; command->name && nr < MAX_COMMANDS - 1;
	     command++)
		names[nr++] = command->name;
	names[nr] = NULL;
}

/* 77 if one of the commands asked for cannot work here at all. */
static int verdict(const struct report *report, const char *const *asked)
{
	for (; *asked; asked++) {
		const char *status = doctor_command_status(report, *asked);

		if (status && !strcmp(status, "no"))
			return EXIT_UNSUPPORTED;
	}
	return EXIT_FINE;
}

int cmd_doctor(int argc, char **argv)
{
	const char *names[MAX_COMMANDS], *asked[MAX_COMMANDS] = {"load"};
	struct doctor_opts doctor = {.commands = names};
	struct view view;
	struct opts_state state = {
		.command = "doctor",
		.synopsis = "doctor [options] [COMMAND...]",
		.summary = "What this machine can measure and, for what it can't, why and what to "
			   "do.\n"
			   "Exit code 77 if a COMMAND (default: load) cannot work here at all.",
		.own = options,
		.argc = argc,
		.argv = argv,
		.index = 1,
		.view = &view,
	};
	struct report *report;
	struct err err = {0};
	size_t nr_asked = 0;
	int id, rc;

	opts_view(&view);
	while ((id = opts_next(&state)) != OPT_END) {
		if (id == OPT_DONE)
			return EXIT_FINE;
		if (id == OPT_BAD)
			return EXIT_USAGE;
		if (!command_exists(state.value))
			return opts_usage(&state, "%s is not a command of this build", state.value);
		if (nr_asked == MAX_COMMANDS - 1)
			return opts_usage(&state, "%s: that is more commands than there are",
					  state.value);
		asked[nr_asked++] = state.value;
	}
	command_names(names);
	if (doctor_report(&doctor, &report, &err))
		return opts_fail("doctor", &err);
	rc = view_write(&view, report);
	/* A reader that has gone is a quiet end. */
	if (rc && rc != -EPIPE)
		err_set(&err, rc, "cannot write: %s", strerror(-rc));
	rc = err.code ? opts_fail("doctor", &err) : verdict(report, asked);
	report_free(report);
	return rc;
}
