/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Option tables with name, help and target member, for command lines and settings files. */
#ifndef SUBTICK_BASE_OPTION_H
#define SUBTICK_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"

struct opt;

/*
 * Parses @value into the struct at @base. @value is NULL for a command line option without
 * argument. Returns 0, or -errno with a sentence in @err. opt_store() adds option and value to the
 * sentence. If the option has opt.expected, a parser may return -EINVAL without a sentence.
 */
typedef int opt_parse(const struct opt *opt, const char *value, void *base, struct err *err);

/* Time when a changed setting takes effect. */
enum opt_when {
	/* takes effect after a restart, because the change needs privileges that were dropped */
	OPT_RESTART,
	OPT_LIVE, /* the setting takes effect when the exporter receives SIGHUP */
	OPT_ARGV, /* the option exists only on the command line and is no setting */
};

/* An option of a command line or settings file. A table of options ends with a NULL name. */
struct opt {
	const char *name; /* long name without the dashes */
	char letter;	  /* short name, or 0 */
	/*
	 * Name of the argument in --help. NULL: the option has no argument, and its value in a
	 * settings file is yes or no.
	 */
	const char *arg;
	const char *help;
	opt_parse *parse;
	size_t offset, size; /* offset and size in bytes of the struct member that @parse sets */
	double min, max;
	/* NULL-terminated list of accepted words, also for shell completion. */
	const char *const *words;
	/* Description of valid values, or NULL if @parse sets the message. */
	const char *expected;
	const char *group;	  /* heading of related options in --help */
	enum opt_when when;
	/*
	 * True if @a and @b have the same value of the option. If NULL, opt_same() compares text or
	 * bytes.
	 */
	bool (*same)(const void *a, const void *b);
};

/* Parsers of common types. Each parser sets the struct member of its option. */
opt_parse opt_flag;   /* parses a bool */
/* parses a text, stored as a const char * without a copy; one of @words if @words is set */
opt_parse opt_text;
opt_parse opt_string; /* parses a text, stored as a copy in a char *; frees the old copy */
opt_parse opt_cpus;   /* parses a list of CPUs into a struct cpuset */
opt_parse opt_u32;    /* parses a whole number from min to max */
opt_parse opt_u64;
opt_parse opt_time;  /* parses a time from min to max, stored as 64-bit ns */
opt_parse opt_ratio; /* parses a double such as 0.05, or 5% if `arg` is "N%" */
opt_parse opt_word;  /* parses a word, stored as an enum: the index of the word in @words */
/* parses a comma-separated list into a uint32_t, the bit set of the indexes in @words */
opt_parse opt_set;

/* Initializes offset and size of the member that stores the value of an option. */
#define OPT_AT(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define OPT_RANGE(type, member, least, most) OPT_AT(type, member), .min = (least), .max = (most)
/* Initializes parser and member of an option. The type of the member selects the parser. */
#define OPT_STORE(type, member)                          \
	.parse = _Generic(((type *)0)->member,           \
		bool: opt_flag,                          \
		const char *: opt_text,                  \
		char *: opt_string,                      \
		struct cpuset: opt_cpus),                \
	OPT_AT(type, member)
#define OPT_NUMBER(type, member, least, most)                                           \
	.parse = _Generic(((type *)0)->member, uint32_t: opt_u32, uint64_t: opt_u64),   \
	OPT_RANGE(type, member, least, most)
#define OPT_DURATION(type, member, least, most)                                         \
	.parse = _Generic(((type *)0)->member, uint64_t: opt_time, int64_t: opt_time),  \
	OPT_RANGE(type, member, least, most)
#define OPT_SHARE(type, member, least, most)                                            \
	.parse = _Generic(((type *)0)->member, double: opt_ratio),                      \
	OPT_RANGE(type, member, least, most)
#define OPT_CHOICE(type, member, names) .parse = opt_word, .words = (names), OPT_AT(type, member)
#define OPT_SET(type, member, names)                                                    \
	.parse = _Generic(((type *)0)->member, uint32_t: opt_set), .words = (names),    \
	OPT_AT(type, member)

/* On failure @err names the option and @value. */
int opt_store(const struct opt *opt, const char *value, void *base, struct err *err);
/* True if the option has the same value in both structs. */
bool opt_same(const struct opt *opt, const void *a, const void *b);
/* Finds the option @name of @len bytes. Returns NULL if @table does not contain the option. */
const struct opt *opt_find(const struct opt *table, const char *name, size_t len);

/* Closest name to a mistyped word. Initialize with {0}; @name stays NULL if no name is similar. */
struct opt_nearest {
	const char *name;
	unsigned int distance;
};
/*
 * Compares the first @len bytes of @word with @name. Stores @name in @nearest if @name is similar,
 * and more similar than all earlier names.
 */
void opt_nearest(struct opt_nearest *nearest, const char *word, size_t len, const char *name);

/* Calls @fn with each word of a comma-separated list until a call fails. */
int opt_each(const struct opt *opt, const char *value, void *base, struct err *err, opt_parse *fn);
/* Index of @value in @words, or -EINVAL. */
int opt_index(const char *const *words, const char *value);
/* Parses a decimal number from @min to @max that is followed by @unit. */
bool opt_decimal(const char *text, const char *unit, double min, double max, double *ret_number);
int opt_whole(const char *text, uint64_t min, uint64_t max, uint64_t *ret_number, struct err *err);
int opt_duration(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns,
		 struct err *err);
/* Removes "--" before option names in @err, because users of the library have no command line. */
void opt_plain(struct err *err);

#endif
