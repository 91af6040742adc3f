/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the subcommand and runs it. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "measure/load/sources.h"
#include "opts.h"
#include "host/bpf.h"
#include "host/file.h"
#include "host/journal.h"

#define COMMAND_ENTRY(name, summary) {#name, cmd_##name, summary},

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {COMMANDS(COMMAND_ENTRY){NULL, NULL, NULL}};

/* The option that run() handles; all others without a command are overview_options. */
static const struct opt version[] = {
	{.name = "version",
	 .letter = 'V',
	 .help = "show the versions of subtick, kernel, BTF and libraries"},
	{0},
};

static const struct command *find(const char *name)
{
	const struct command *command = commands;

	while (command->name && strcmp(name, command->name))
		command++;
	return command->name ? command : NULL;
}

static int unknown(const char *word)
{
	struct opt_nearest nearest = {0};

	for (const struct command *command = commands; command->name; command++)
		opt_nearest(&nearest, word, strlen(word), command->name);
	opt_nearest(&nearest, word, strlen(word), "help");
	fprintf(stderr, "subtick: unknown command %s%s%s%s (see subtick --help)\n", word,
		nearest.name ? "; did you mean " : "", nearest.name ?: "", nearest.name ? "?" : "");
	return EXIT_USAGE;
}

static int help(void)
{
	printf("Usage: subtick [COMMAND] [options] [interval [count]]\n"
	       "What the CPU cores really do between two scheduler ticks.\n\n"
	       "  %-10s the live screen on a terminal, else a summary of 5 seconds\n",
	       "(none)");
	for (const struct command *command = commands; command->name; command++)
		printf("  %-10s %s\n", command->name, command->summary);
	printf("\nOptions without a command (subtick help COMMAND shows those of a command):\n");
	opts_print(overview_options, version);
	printf("\nMore in subtick(8).\n");
	return EXIT_SUCCESS;
}

/* "help [COMMAND]", and its completions. */
static int help_of(int argc, char **argv)
{
	const struct command *command = argc > 1 ? find(argv[1]) : NULL;
	char option[] = "--help";
	char *args[] = {argv[1], option, NULL};

	if (argc < 2)
		return help();
	if (command)
		return command->run(2, args);
	if (strcmp(argv[1], "--option-table"))
		return unknown(argv[1]);
	for (command = commands; command->name; command++)
		printf("operand\t%s\n", command->name);
	return EXIT_SUCCESS;
}

/* Prints the completions without a command: the commands, --version, the overview's options. */
static int option_table(int argc, char **argv)
{
	for (const struct command *command = commands; command->name; command++)
		printf("command\t%s\t%s\n", command->name, command->summary);
	printf("command\thelp\tthe options of a command\n");
	opts_table(version);
	return cmd_overview(argc, argv);
}

static int run(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *command;

	if (!word)
		return cmd_overview(argc, argv);
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return help();
	if (!strcmp(word, "help"))
		return help_of(argc - 1, argv + 1);
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		version_print();
		return EXIT_SUCCESS;
	}
	if (!strcmp(word, "--option-table"))
		return option_table(argc, argv);
	command = find(word);
	if (command)
		return command->run(argc - 1, argv + 1);
	/* Without a command, options and an interval are the overview's. */
	if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9') || word[0] == '.')
		return cmd_overview(argc, argv);
	return unknown(word);
}

/*
 * Opens the standard descriptors that are closed. A BPF map would get the number of a closed stdout,
 * and output would go there. The access mode is inverted, so that using them stays an error.
 */
static void occupy_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

/* Restores settings of a run that was killed together with its guard. */
static void restore_settings(void)
{
	int rc = journal_replay(NULL);

	if (rc > 0)
		fprintf(stderr, "subtick: restored %d settings that an earlier run left changed\n",
			rc);
	/* -EAGAIN: another run holds the lock, so its changes are not left over. */
	if (rc < 0 && rc != -EAGAIN && rc != -EACCES)
		fprintf(stderr,
			"subtick: settings that an earlier run left changed cannot be restored "
			"(%s): see /run/subtick/restore\n",
			strerror(-rc));
}

/* Flushes stdout: write errors may show only now. */
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
	/* Sources of load have up to one descriptor per CPU each, and a shell's limit is 1,024. */
	if (getdtablesize() < SOURCE_SET_MAX * sysconf(_SC_NPROCESSORS_CONF))
		sys_more_descriptors();
	/* Commands print errors themselves, with libbpf's warning in them. */
	sys_bpf_log_hold();
	restore_settings();
	return check_written(run(argc, argv));
}
