/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds and runs the subcommand, and prints the general help and the versions. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "measure/load/sources.h"
#include "opts.h"
#include "host/bpf.h"
#include "host/file.h"
#include "host/journal.h"
#include "host/kbtf.h"

static void print_kernel(void)
{
	struct utsname name;
	struct err err = {0};
	struct btf *btf;

	if (uname(&name))
		return;
	printf("kernel: %s %s, %s\n", name.sysname, name.release, name.machine);
	if (kbtf_open(NULL, &btf, &err)) {
		printf("BTF: none: %s\n", err.what);
		return;
	}
	printf("BTF: /sys/kernel/btf/vmlinux, %u types\n", kbtf_nr_types(btf));
	kbtf_close(btf);
}

static void version_print(void)
{
	printf("subtick %s\n", SUBTICK_VERSION);
	print_kernel();
	printf("libbpf: %s, compiled with " SUBTICK_LIBBPF "\n", sys_bpf_library());
	printf("compiled in: " SUBTICK_PARTS "\n");
	printf("compiled by: " SUBTICK_COMPILERS "\n");
}

#define COMMAND_ENTRY(name, summary) {#name, cmd_##name, summary},

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {COMMANDS(COMMAND_ENTRY)};

/* run() handles --version. overview_options has the other options that need no command. */
static const struct opt version[] = {
	{.name = "version",
	 .letter = 'V',
	 .help = "show the versions of subtick, kernel, BTF and libraries"},
	{0},
};

static const struct command *find(const char *name)
{
	array_for_each(command, commands, ARRAY_SIZE(commands))
		if (!strcmp(name, command->name))
			return command;
	return NULL;
}

static int unknown(const char *word)
{
	struct opt_nearest nearest = {0};

	array_for_each(command, commands, ARRAY_SIZE(commands))
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
	array_for_each(command, commands, ARRAY_SIZE(commands))
		printf("  %-10s %s\n", command->name, command->summary);
	printf("\nOptions without a command (subtick help COMMAND: options of a command):\n");
	opts_print(overview_options, version);
	printf("\nMore in subtick(8).\n");
	return EXIT_SUCCESS;
}

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
	array_for_each(known, commands, ARRAY_SIZE(commands))
		printf("operand\t%s\n", known->name);
	return EXIT_SUCCESS;
}

static int option_table(int argc, char **argv)
{
	array_for_each(command, commands, ARRAY_SIZE(commands))
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
	/* If the command line has options or an interval but no command, the overview runs. */
	if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9') || word[0] == '.')
		return cmd_overview(argc, argv);
	return unknown(word);
}

/*
 * Opens closed standard descriptors, because a BPF map could get the number of stdout. stdin is
 * opened write-only and stdout read-only, so reads of stdin and writes to stdout fail.
 */
static void occupy_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

/* Restores kernel settings that an earlier, killed run changed. */
static void restore_settings(void)
{
	int rc = journal_replay(NULL);

	if (rc > 0)
		fprintf(stderr, "subtick: restored %d settings that an earlier run left changed\n",
			rc);
	/* -EAGAIN: another running subtick holds the lock and restores its own changes. */
	if (rc < 0 && rc != -EAGAIN && rc != -EACCES)
		fprintf(stderr,
			"subtick: settings that an earlier run left changed cannot be restored "
			"(%s): see /run/subtick/restore\n",
			strerror(-rc));
}

/* Flushes stdout. Flushing stdout also reports errors of earlier writes. Returns the exit code. */
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
	/*
	 * Each source of `subtick load` opens up to one descriptor per CPU; the default limit is
	 * 1,024.
	 */
	if (getdtablesize() < SOURCE_SET_MAX * sysconf(_SC_NPROCESSORS_CONF))
		sys_more_descriptors();
	/* Keep the warnings of libbpf, because error messages of commands contain them. */
	sys_bpf_log_hold();
	restore_settings();
	return check_written(run(argc, argv));
}
