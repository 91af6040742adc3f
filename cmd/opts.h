/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses command lines: options that all commands share, values, usage errors. */
#ifndef SUBTICK_CMD_OPTS_H
#define SUBTICK_CMD_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h> /* EXIT_SUCCESS */

#include "base/cpuset.h"
#include "base/err.h"
#include "view/view.h"

enum exit_code {
	EXIT_ERROR = 1,
	EXIT_VERDICT = 2,
	EXIT_USAGE = 64,
	EXIT_UNSUPPORTED = 77,
};

/* Where the value of an option goes. */
enum opt_kind {
	OPT_BY_ID, /* to the command's parse function */
	/* Into a member of the command's struct: */
	OPT_FLAG,  /* bool: true */
	OPT_TEXT,  /* const char *: as it is */
	OPT_CPUS,  /* struct cpuset */
	OPT_U32,   /* a whole number from min to max */
	OPT_U64,
	OPT_TIME,  /* 64 bits of ns, from min to max */
	OPT_RATIO, /* double; min and max as ratios. The argument is N with its unit: "N%", "Npp" */
	OPT_WORD,  /* an enum: the index in words */
	OPT_ALL,   /* view->all */
	OPT_WIDE,  /* view->wide */
};

/* One option of a command; a table of them ends with a NULL name. */
struct opt {
	const char *name; /* long name without the dashes */
	char letter;	  /* short name, or 0 */
	const char *arg;  /* what the argument is called in --help, NULL for none */
	const char *help;
	int id; /* passed to the command's parse function */
	enum opt_kind kind;
	size_t offset;
	double min, max;
	const char *const *words; /* NULL-terminated; of any kind: what completion offers */
	const char *expected;	  /* the words, for people */
	const char *group;	  /* options that only make sense together with something */
};

/* Ends an entry: the value goes to @member of the command's struct. */
#define OPT_STORE(type, member)                                \
	.kind = _Generic(((type *)0)->member,                  \
		bool: OPT_FLAG,                                \
		const char *: OPT_TEXT,                        \
		struct cpuset: OPT_CPUS),                      \
	.offset = offsetof(type, member)
#define OPT_NUMBER(type, member, least, most)                                            \
	.kind = _Generic(((type *)0)->member, uint32_t: OPT_U32, uint64_t: OPT_U64),     \
	.offset = offsetof(type, member), .min = (least), .max = (most)
#define OPT_DURATION(type, member, least, most)                                          \
	.kind = _Generic(((type *)0)->member, uint64_t: OPT_TIME, int64_t: OPT_TIME),    \
	.offset = offsetof(type, member), .min = (least), .max = (most)
#define OPT_SHARE(type, member, least, most)                                             \
	.kind = _Generic(((type *)0)->member, double: OPT_RATIO),                        \
	.offset = offsetof(type, member), .min = (least), .max = (most)
#define OPT_CHOICE(type, member, names, text)                                            \
	.kind = OPT_WORD, .offset = offsetof(type, member), .words = (names), .expected = (text)

/* A command's own ids begin at OPT_OWN. */
enum {
	OPT_OPERAND = 0, /* state->value is the operand */
	OPT_OWN = 1,
};

/* opts_walk() returns an exit code, or this: the command line is valid, run the command. */
#define OPTS_PARSED (-1)

struct opts_state {
	const char *command; /* "load"; NULL for subtick itself */
	const char *synopsis;
	const char *summary;
	const struct opt *own;
	const char *const *operands; /* words that operands may be, for completion; or NULL */
	struct view *view; /* --json, --csv, --color go here; NULL: the command has none of them */
	const char *value; /* of the current option or operand */
	/* State of opts_walk(). */
	int argc;
	char **argv;
	int index;
	const char *cluster; /* rest of "-abc" */
	bool no_more;	     /* after "--" */
	uint64_t given;	     /* bit per option of own */
};

/*
 * Parses argv from its second word: sets up state->view, handles --json, --csv, --color and --help,
 * stores values in the command's struct @arg, and calls @parse with the id of each option of kind
 * OPT_BY_ID and with OPT_OPERAND for operands. @parse prints its usage error and returns false if
 * the value is invalid. Returns OPTS_PARSED, or the code to exit with.
 * "--name=value", "--name value", "-n value" and "-nvalue" are equivalent.
 */
typedef bool opts_parse(struct opts_state *state, int id, void *arg);
int opts_walk(struct opts_state *state, int argc, char **argv, opts_parse *parse, void *arg);
/* Prints "subtick load: …" and a hint on stderr; returns EXIT_USAGE. */
int opts_usage(const struct opts_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether that option was given. */
/* Refuses names of picture files that are no SVG; NULL is fine. */
bool opts_svg(const struct opts_state *state, const char *path);
bool opts_given(const struct opts_state *state, const char *name);
/* The first option given of that group; NULL if there is none. */
const struct opt *opts_group(const struct opts_state *state, const char *group);

/* Prints "command", name and summary, for completion, as opts_walk() does with options. */
void opts_table_command(const char *name, const char *summary);

/* Prints the option lines of --help: the command's own options, then the common ones. */
void opts_print(const struct opt *own);

/* Each prints a usage error and returns false if the value is invalid. */
bool opts_u64(const struct opts_state *state, const char *name, const char *value, uint64_t min,
	      uint64_t max, uint64_t *ret_u64);
/* "100us", "2ms", "1.5s", "300ns"; a bare number is in seconds. */
bool opts_duration(const struct opts_state *state, const char *name, const char *value,
		   uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns);

/* A number above 0 up to 100. */
bool opts_percent(const char *word, double *ret_percent);
/* "p99=REST": returns REST, or NULL for anything else; says nothing. */
const char *opts_percentile(const char *value, double *ret_percent);

/* Of --cpu. CPUs that the machine cannot have are a mistake; offline ones are reported as such. */
bool opts_cpus_exist(const struct opts_state *state, const struct cpuset *cpus);

/* Calls @fn with each word of a comma-separated list, until it returns false. */
bool opts_list(const struct opts_state *state, void *arg,
	       bool (*fn)(const struct opts_state *state, const char *word, void *arg));

/* The operands [interval [count]] of every measuring command. */
struct opts_interval {
	uint64_t interval_ns;
	uint64_t count; /* 0: until stopped */
	int given;	/* number of operands so far */
};

bool opts_interval(const struct opts_state *state, const char *value, struct opts_interval *at);

/* Prints the error and its fix on stderr; returns the exit code for it. */
int opts_fail(const char *command, const struct err *err);

#endif
