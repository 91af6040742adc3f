/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the subcommand and runs it. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "opts.h"
#include "version.h"

#define COMMAND_ENTRY(name, summary) {#name, cmd_##name, summary},

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {COMMANDS(COMMAND_ENTRY){NULL, NULL, NULL}};

static const struct opt options[] = {
	{"once", 0, NULL, "print one summary of 5 seconds, even on a terminal", .id = 0},
	{"pressure", 0, NULL,
	 "live screen: also the wall time in which somebody waited, as in subtick runq", .id = 0},
	{"version", 'V', NULL, "show the version, and those of kernel, BTF and libraries", .id = 0},
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
	return EXIT_SUCCESS;
}

/* What completion offers before a command: the commands, and the overview's options. */
static int option_table(int argc, char **argv)
{
	for (const struct command *command = commands; command->name; command++)
		opts_table_command(command->name, command->summary);
	printf("option\t-V\t--version\t\t\t%s\n", options[1].help);
	return cmd_overview(argc, argv);
}

static int run(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word)
		return cmd_overview(argc, argv);
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return help();
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		version_print();
		return EXIT_SUCCESS;
	}
	if (!strcmp(word, "--option-table"))
		return option_table(argc, argv);
	for (const struct command *command = commands; command->name; command++)
		if (!strcmp(word, command->name))
			return command->run(argc - 1, argv + 1);
	/* Without a command, options and an interval are the overview's. */
	if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9') || word[0] == '.')
		return cmd_overview(argc, argv);
	fprintf(stderr, "subtick: unknown command %s (see subtick --help)\n", word);
	return EXIT_USAGE;
}

/*
 * If one of the first three descriptors is closed, the next file would get its number: a BPF map, and
 * output would be written there. Opened the wrong way round, so that using it is still an error.
 */
static void occupy_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

/* What was printed may still be in a buffer: whether it arrives is known only now. */
static int check_written(int code)
{
	bool failed = fflush(stdout);

	if ((!failed && !ferror(stdout)) || code != EXIT_SUCCESS || errno == EPIPE)
		return code;
	fprintf(stderr, "subtick: cannot write: %s\n",
		failed ? strerror(errno) : "an earlier write failed");
	return EXIT_ERROR;
}

int main(int argc, char **argv)
{
	occupy_standard_descriptors();
	return check_written(run(argc, argv));
}
