/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses command lines by option table; prints help, completion tables and usage errors. */
#ifndef SUBTICK_CMD_OPTS_H
#define SUBTICK_CMD_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h> /* EXIT_SUCCESS */

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

/* opts_walk() returns an exit code, or this: the command line is valid, run the command. */
#define OPTS_PARSED (-1)

/* The operands [interval [count]] of the measuring commands. */
struct opts_interval {
	uint64_t interval_ns;
	uint64_t count; /* 0: until stopped */
	int given;	/* number of operands so far */
};

struct opts_state {
	const char *command; /* "load"; NULL for subtick itself */
	const char *synopsis;
	const char *summary;
	const struct opt *own;	     /* the command's table */
	const char *const *operands; /* words that operands may be, for completion; or NULL */
	struct view *view; /* --json, --csv, --color go here; NULL: the command has none of them */
	const struct table_spec *const *tables; /* lists of its JSON, for --json-schema */
	/* Operands go to @interval or to @operand; a command with neither has no operands. */
	struct opts_interval *interval;
	int (*operand)(struct opts_state *state, const char *word, void *base, struct err *err);
	/* Checks the values together once all are parsed; may be NULL. */
	int (*check)(const struct opts_state *state, void *base, struct err *err);
	/* State of opts_walk(). */
	int argc;
	char **argv;
	int index;
	const char *cluster; /* rest of "-abc" */
	bool no_more;	     /* after "--" */
	uint64_t given;	     /* bit per option of own */
};

/*
 * Parses argv from its second word: sets up state->view, handles the options that all commands
 * share, and stores the values of state->own in the command's struct @base. Prints usage errors.
 * Returns OPTS_PARSED, or the exit code. May be called again with another @base.
 * "--name=value", "--name value", "-n value" and "-nvalue" are equivalent.
 */
int opts_walk(struct opts_state *state, int argc, char **argv, void *base);
/* Prints "subtick load: …" and a hint on stderr; returns EXIT_USAGE. */
int opts_usage(const struct opts_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* True if the option was on the command line. */
bool opts_given(const struct opts_state *state, const char *name);
/* First option of that group on the command line; NULL if there is none. */
const struct opt *opts_group(const struct opts_state *state, const char *group);

/* Prints the option lines of --help: both tables, then the options that all commands share. */
void opts_print(const struct opt *own, const struct opt *more);
/* Prints one line per option, tabs between the fields, for packaging/completion/generate. */
void opts_table(const struct opt *own);

/* Parser of a file name, const char *: refuses names of pictures that are not SVG. */
opt_parse opts_svg;
/* Parser of --cpu, struct cpuset: refuses CPUs that the machine cannot have. */
opt_parse opts_cpus;

/* "p99=REST": returns REST, or NULL for anything else. 0 < percent <= 100. */
const char *opts_percentile(const char *value, double *ret_percent);
/* Parses a number above 0 up to 100. */
bool opts_percent(const char *word, double *ret_percent);

/* Prints the error and its fix on stderr; returns the exit code for it. */
int opts_fail(const char *command, const struct err *err);

#endif
