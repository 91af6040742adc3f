/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the command line, prints help and usage errors. */
#include "opts.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"

/* next_option() returns the id of an option or operand, or one of these. */
enum {
	OPT_END = -1,
	OPT_BAD = -2,  /* a usage error was printed */
	OPT_DONE = -3, /* --help was printed */
};

enum {
	ID_JSON = 0x1000,
	ID_CSV,
	ID_COLOR,
	ID_HELP,
};

static const struct opt common[] = {
	{"json", 0, NULL, "JSON, one object per line", ID_JSON},
	{"csv", 0, NULL, "comma-separated values with a header", ID_CSV},
	{"color", 0, "WHEN", "auto, always or never (default auto; NO_COLOR is respected)",
	 ID_COLOR},
	{"help", 'h', NULL, "show this help", ID_HELP},
	{NULL, 0, NULL, NULL, 0},
};

/* Without a view there is no output to format: of the common options only --help is left. */
static const struct opt *common_of(const struct opts_state *state)
{
	const struct opt *opt = common;

	while (!state->view && opt->id != ID_HELP)
		opt++;
	return opt;
}

static void print_list(const struct opt *opt)
{
	char left[64];

	for (; opt->name; opt++) {
		char letter[4] = "   ";

		if (opt->letter)
			snprintf(letter, sizeof(letter), "-%c,", opt->letter);
		snprintf(left, sizeof(left), "%s --%s%s%s", letter, opt->name, opt->arg ? " " : "",
			 opt->arg ? opt->arg : "");
		printf("  %-26s %s\n", left, opt->help);
	}
}

void opts_print(const struct opt *own)
{
	print_list(own);
	print_list(common);
}

static void print_help(const struct opts_state *state)
{
	printf("Usage: subtick %s\n%s\n\n", state->synopsis, state->summary);
	print_list(state->own);
	print_list(common_of(state));
	printf("\nMore in subtick%s%s(8).\n", state->command ? "-" : "",
	       state->command ? state->command : "");
}

int opts_usage(const struct opts_state *state, const char *fmt, ...)
{
	const char *dash = state->command ? " " : "", *name = state->command ? state->command : "";
	va_list ap;

	fprintf(stderr, "subtick%s%s: ", dash, name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (see subtick%s%s --help)\n", dash, name);
	return EXIT_USAGE;
}

static const struct opt *find_long(const struct opt *list, const char *name, size_t len)
{
	for (; list->name; list++)
		if (strlen(list->name) == len && !strncmp(list->name, name, len))
			return list;
	return NULL;
}

static const struct opt *find_letter(const struct opt *list, char letter)
{
	for (; list->name; list++)
		if (list->letter && list->letter == letter)
			return list;
	return NULL;
}

static int set_color(struct opts_state *state)
{
	if (!strcmp(state->value, "always"))
		state->view->color = true;
	else if (!strcmp(state->value, "never"))
		state->view->color = false;
	else if (strcmp(state->value, "auto")) {
		opts_usage(state, "--color %s: expected auto, always or never", state->value);
		return OPT_BAD;
	}
	return 0;
}

/* Applies a common option; 0 to go on with the next. */
static int apply_common(struct opts_state *state, int id)
{
	switch (id) {
	case ID_JSON:
		state->view->format = VIEW_JSON;
		return 0;
	case ID_CSV:
		state->view->format = VIEW_CSV;
		return 0;
	case ID_COLOR:
		return set_color(state);
	default:
		print_help(state);
		return OPT_DONE;
	}
}

/* The option's argument, from the same word or the next one. */
static int option_value(struct opts_state *state, const struct opt *opt, const char *inside)
{
	state->value = inside;
	if (!opt->arg && inside) {
		opts_usage(state, "--%s takes no value", opt->name);
		return OPT_BAD;
	}
	if (!opt->arg || inside)
		return 0;
	if (state->index >= state->argc) {
		opts_usage(state, "--%s needs a value: %s", opt->name, opt->arg);
		return OPT_BAD;
	}
	state->value = state->argv[state->index++];
	return 0;
}

static int next_letter(struct opts_state *state)
{
	char letter = *state->cluster++;
	const struct opt *opt = find_letter(state->own, letter);
	const char *inside = NULL;

	if (!opt)
		opt = find_letter(common_of(state), letter);
	if (!opt) {
		opts_usage(state, "unknown option -%c", letter);
		return OPT_BAD;
	}
	if (opt->arg && *state->cluster) {
		inside = state->cluster;
		state->cluster = "";
	}
	if (option_value(state, opt, inside))
		return OPT_BAD;
	return opt->id;
}

static int next_long(struct opts_state *state, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	const struct opt *opt = find_long(state->own, word, len);

	if (!opt)
		opt = find_long(common_of(state), word, len);
	if (!opt) {
		opts_usage(state, "unknown option --%.*s", (int)len, word);
		return OPT_BAD;
	}
	if (option_value(state, opt, equals ? equals + 1 : NULL))
		return OPT_BAD;
	return opt->id;
}

static int next_option(struct opts_state *state)
{
	const char *word;
	int id, rc;

	for (;;) {
		if (state->cluster && *state->cluster) {
			id = next_letter(state);
		} else if (state->index >= state->argc) {
			return OPT_END;
		} else {
			word = state->argv[state->index++];
			if (state->no_more || word[0] != '-' || !word[1]) {
				state->value = word;
				return OPT_OPERAND;
			}
			if (!strcmp(word, "--")) {
				state->no_more = true;
				continue;
			}
			if (word[1] == '-') {
				id = next_long(state, word + 2);
			} else {
				state->cluster = word + 1;
				continue;
			}
		}
		if (id < ID_JSON)
			return id;
		rc = apply_common(state, id);
		if (rc)
			return rc;
	}
}

/* A view on stdout that uses what the terminal supports. */
static void view_stdout(struct view *view)
{
	struct winsize size;
	bool terminal = isatty(STDOUT_FILENO);
	const char *no_color = getenv("NO_COLOR");

	*view = (struct view){.format = VIEW_TEXT, .out = stdout};
	view->bars = terminal;
	view->color = terminal && (!no_color || !*no_color);
	if (terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		view->width = size.ws_col;
}

int opts_walk(struct opts_state *state, int argc, char **argv,
	      bool (*parse)(struct opts_state *state, int id, void *arg), void *arg)
{
	int id;

	state->argc = argc;
	state->argv = argv;
	state->index = 1;
	if (state->view)
		view_stdout(state->view);
	while ((id = next_option(state)) != OPT_END) {
		if (id == OPT_DONE)
			return EXIT_FINE;
		if (id == OPT_BAD || !parse(state, id, arg))
			return EXIT_USAGE;
	}
	return OPTS_PARSED;
}

bool opts_cpus(const struct opts_state *state, const char *name, const char *value,
	       struct cpuset *ret_cpus)
{
	struct cpuset cpus;

	if (cpuset_parse(value, &cpus) || !cpuset_count(&cpus)) {
		opts_usage(state, "--%s %s: expected a list of CPUs such as 0,2-5", name, value);
		return false;
	}
	*ret_cpus = cpus;
	return true;
}

bool opts_u64(const struct opts_state *state, const char *name, const char *value, uint64_t min,
	      uint64_t max, uint64_t *ret_u64)
{
	char *end = NULL;
	unsigned long long got;

	errno = 0;
	got = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end || errno || got < min || got > max) {
		opts_usage(state, "%s %s: expected a whole number from %llu to %llu", name, value,
			   (unsigned long long)min, (unsigned long long)max);
		return false;
	}
	*ret_u64 = got;
	return true;
}

bool opts_duration(const struct opts_state *state, const char *name, const char *value,
		   uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns)
{
	char low[32], high[32];

	if (duration_parse(value, min_ns, max_ns, ret_ns))
		return true;
	view_format_ns((double)min_ns, low, sizeof(low));
	view_format_ns((double)max_ns, high, sizeof(high));
	opts_usage(state, "%s %s: expected a time from %s to %s, such as 0.5, 200ms or 1s", name,
		   value, low, high);
	return false;
}

bool opts_ratio(const struct opts_state *state, const char *name, const char *value,
		const char *suffix, double min, double max, double *ret_ratio)
{
	char *end = NULL;
	double got = strtod(value, &end) / 100.0;
	bool plain = isdigit((unsigned char)value[0]) || value[0] == '.';

	if (plain && (value[1] == 'x' || value[1] == 'X'))
		plain = false;
	if (!plain || strcmp(end, suffix) || !(got >= min && got <= max)) {
		opts_usage(state, "%s %s: expected a number from %g%s to %g%s, such as 5%s", name,
			   value, min * 100.0, suffix, max * 100.0, suffix, suffix);
		return false;
	}
	*ret_ratio = got;
	return true;
}

bool opts_interval(const struct opts_state *state, const char *value, struct opts_interval *at)
{
	switch (at->given++) {
	case 0:
		/* Without a count it runs until stopped, as vmstat and mpstat do. */
		at->count = 0;
		return opts_duration(state, "interval", value, NSEC_PER_MSEC, 86400 * NSEC_PER_SEC,
				     &at->interval_ns);
	case 1:
		return opts_u64(state, "count", value, 1, UINT32_MAX, &at->count);
	default:
		opts_usage(state, "unexpected operand %s: expected [interval [count]]", value);
		return false;
	}
}

int opts_fail(const char *command, const struct err *err)
{
	fprintf(stderr, "subtick%s%s: %s\n", command ? " " : "", command ? command : "", err->what);
	if (err->fix[0])
		fprintf(stderr, "  fix: %s\n", err->fix);
	return err->unsupported ? EXIT_UNSUPPORTED : EXIT_ERROR;
}
