/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses command lines with option tables, and prints help, completions and usage errors. */
#ifndef SUBTICK_CMD_OPTS_H
#define SUBTICK_CMD_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/option.h"
#include "report/columns.h"
#include "view/view.h"

enum exit_code {
	EXIT_ERROR = 1,
	EXIT_VERDICT = 2,
	EXIT_USAGE = 64,
	EXIT_UNSUPPORTED = 77,
};

extern const char *const command_names[];
bool command_exists(const char *name);

/* Result of opts_walk() for a valid command line. Every other result is an exit code. */
#define OPTS_PARSED (-1)

/* Values of the operands [interval [count]] of a command that measures. */
struct opts_interval {
	uint64_t interval_ns;
	uint64_t count; /* number of intervals; 0 to run until stopped */
	int given;	/* number of these two operands that the command line contains: 0, 1 or 2 */
};

struct opts_state {
	/* name of the command, such as "load"; NULL for subtick without a command */
	const char *command;
	const char *synopsis;
	const char *summary;
	const struct opt *own;	     /* option table of the command */
	/* operands that the command accepts, for shell completion; NULL if there are none */
	const char *const *operands;
	/* output format (--json, --csv, --color), or NULL in commands without a report */
	struct view *view;
	const struct table_spec *const *tables; /* tables of the JSON output, for --json-schema */
	/* If @interval and @operand are NULL, the command accepts no operands. */
	struct opts_interval *interval;
	int (*operand)(struct opts_state *state, const char *word, void *base, struct err *err);
	/* Function that checks the values of all options after parsing, or NULL. */
	int (*check)(const struct opts_state *state, void *base, struct err *err);
	/* State of opts_walk() while it parses. */
	int argc;
	char **argv;
	int index;
	bool no_more; /* true after "--", because all later words are operands */
	/* bit N is set if the option with index N in the table @own was on the command line */
	uint64_t given;
};

/*
 * Parses argv from its second word, stores the values of state->own in @base, sets up state->view
 * and handles the options that all commands share. Prints usage errors. Returns OPTS_PARSED or the
 * exit code. opts_walk() can be called again with another @base. "--name=value", "--name value",
 * "-n value" and "-nvalue" are equivalent.
 */
int opts_walk(struct opts_state *state, int argc, char **argv, void *base);
/* Prints a usage error such as "subtick load: …" and a hint on stderr. Returns EXIT_USAGE. */
int opts_usage(const struct opts_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

bool opts_given(const struct opts_state *state, const char *name);
/* Returns the first option on the command line that belongs to @group, or NULL. */
const struct opt *opts_group(const struct opts_state *state, const char *group);

/* Prints the options of both tables and the options that all commands share, as in --help. */
void opts_print(const struct opt *own, const struct opt *more);
/* Prints one line per option for packaging/completion/generate, with tabs between the fields. */
void opts_table(const struct opt *own);

/* Option parser for a file name, stored as const char *. Refuses picture formats other than SVG. */
opt_parse opts_svg;
/* Option parser of --cpu, stored as a struct cpuset. Refuses CPUs that are not possible. */
opt_parse opts_cpus;

/* Parses "pN=REST", such as "p99=REST", with 0 < N <= 100. Returns REST, or NULL if invalid. */
const char *opts_percentile(const char *value, double *ret_percent);
/* Parses a percentage above 0 and at most 100. */
bool opts_percent(const char *word, double *ret_percent);

/* Prints the error in @err and its fix on stderr. Returns the exit code. */
int opts_fail(const char *command, const struct err *err);

#endif
