/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the subcommand and runs it. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "opts.h"

#define COMMAND_ENTRY(name, summary) {#name, cmd_##name, summary},

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {COMMANDS(COMMAND_ENTRY){NULL, NULL, NULL}};

static const struct opt options[] = {
	{"once", 0, NULL, "print one summary of 5 seconds, even on a terminal", .id = 0},
	{"version", 'V', NULL, "show the version", .id = 0},
	{0},
};

static int help(void)
{
	printf("Usage: subtick [COMMAND] [options] [interval [count]]\n"
	       "What the CPU cores really do between two scheduler ticks.\n\n"
	       "  %-10s the live screen on a terminal, else a summary of 5 seconds\n",
	       "(none)");
	for (const struct command *command = commands; command->name; command++)
		printf("  %-10s %s\n", command->name, command->summary);
	printf("\nOptions without a command (subtick COMMAND --help shows those of a command):\n");
	opts_print(options);
	printf("\nMore in subtick(8).\n");
	return EXIT_FINE;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word)
		return cmd_overview(argc, argv);
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return help();
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		printf("subtick %s\n", SUBTICK_VERSION);
		return EXIT_FINE;
	}
	for (const struct command *command = commands; command->name; command++)
		if (!strcmp(word, command->name))
			return command->run(argc - 1, argv + 1);
	/* Without a command, options and an interval are the overview's. */
	if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9') || word[0] == '.')
		return cmd_overview(argc, argv);
	fprintf(stderr, "subtick: unknown command %s (see subtick --help)\n", word);
	return EXIT_USAGE;
}
