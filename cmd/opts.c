/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the command line, and prints help and usage errors. */
#include "opts.h"

#include <errno.h>
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "commands.h"
#include "host/cpu.h"
#include "view/view.h"

#define COMMAND_NAME(name, summary) #name,
const char *const command_names[] = {COMMANDS(COMMAND_NAME) NULL};

bool command_exists(const char *name)
{
	return opt_index(command_names, name) >= 0;
}

/* Result of an option parser that printed output such as the help. The command then exits. */
#define PRINTED 1

static int set_format(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct view *view = ((struct opts_state *)base)->view;
	enum view_format format = strcmp(opt->name, "csv") ? VIEW_JSON : VIEW_CSV;

	if (view->format != VIEW_TEXT && view->format != format)
		return err_set(err, -EINVAL, "--json and --csv exclude each other");
	view->format = format;
	return 0;
}

static int set_color(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct opts_state *state = base;
	unsigned int when;
	int rc = opt_word(opt, value, &when, err);

	if (!rc && when)
		state->view->color = when == 1;
	return rc;
}

static int print_schema(const struct opt *opt, const char *value, void *base, struct err *err)
{
	const struct opts_state *state = base;

	view_schema(stdout, state->command ? state->command : "overview", state->tables);
	return PRINTED;
}

static opt_parse print_help, print_table;
static const char *const color_words[] = {"auto", "always", "never", NULL};

/* Options of all commands. The parsers get the struct opts_state as @base. */
static const struct opt common[] = {
	{"json", 0, NULL, "JSON, one object per line", .parse = set_format},
	{"csv", 0, NULL, "comma-separated values with a header", .parse = set_format},
	{"color", 0, "WHEN", "auto, always or never (default auto; NO_COLOR is respected)",
	 .parse = set_color, .words = color_words},
	{"json-schema", 0, NULL, "show the JSON Schema of --json and exit", .parse = print_schema},
	{"help", 'h', NULL, "show this help", .parse = print_help},
	/* Only packaging/completion/generate uses this option; --help does not list it. */
	{"option-table", 0, NULL, NULL, .parse = print_table},
	{0},
};

/* Options that all commands share. A command that prints no report has only --help. */
static const struct opt *common_of(const struct opts_state *state)
{
	const struct opt *opt = common;

	while (!state->view && opt->parse != print_help)
		opt++;
	return opt;
}

static void print_list(const struct opt *opt)
{
	char left[64];

	for (; opt->name && opt->help; opt++) {
		char letter[4] = "   ";

		if (opt->letter)
			snprintf(letter, sizeof(letter), "-%c,", opt->letter);
		snprintf(left, sizeof(left), "%s --%s%s%s", letter, opt->name, opt->arg ? " " : "",
			 opt->arg ? opt->arg : "");
		printf("  %-26s %s\n", left, opt->help);
	}
}

void opts_print(const struct opt *own, const struct opt *more)
{
	print_list(own);
	print_list(more);
	print_list(common);
}

static int print_help(const struct opt *opt, const char *value, void *base, struct err *err)
{
	const struct opts_state *state = base;

	printf("Usage: subtick %s\n%s\n\n", state->synopsis, state->summary);
	print_list(state->own);
	print_list(common_of(state));
	printf("\nMore in subtick%s%s(8).\n", state->command ? "-" : "",
	       state->command ? state->command : "");
	return PRINTED;
}

void opts_table(const struct opt *opt)
{
	for (; opt->name && opt->help; opt++) {
		printf("option\t%s%.1s\t--%s\t%s\t", opt->letter ? "-" : "", &opt->letter, opt->name,
		       opt->arg ? opt->arg : "");
		for (const char *const *word = opt->words; word && *word; word++)
			printf("%s%s", word == opt->words ? "" : " ", *word);
		printf("\t%s\n", opt->help);
	}
}

static int print_table(const struct opt *opt, const char *value, void *base, struct err *err)
{
	const struct opts_state *state = base;

	for (const char *const *word = state->operands; word && *word; word++)
		printf("operand\t%s\n", *word);
	opts_table(state->own);
	opts_table(common_of(state));
	return PRINTED;
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

static const struct opt *find_letter(const struct opt *table, char letter)
{
	while (table->name && table->letter != letter)
		table++;
	return table->name ? table : NULL;
}

/*
 * Parses an option. @inside is the value in "--name=value", or NULL. The take_* functions return
 * OPTS_PARSED or an exit code.
 */
static int take_option(struct opts_state *state, const struct opt *opt, const char *inside,
		       void *base)
{
	bool own = opt_find(state->own, opt->name, strlen(opt->name)) == opt;
	const char *value = inside;
	struct err err = {0};
	int rc;

	if (!opt->arg && inside)
		return opts_usage(state, "--%s takes no value", opt->name);
	if (opt->arg && !inside) {
		if (state->index == state->argc)
			return opts_usage(state, "--%s needs a value: %s", opt->name, opt->arg);
		value = state->argv[state->index++];
	}
	if (own)
		state->given |= 1ULL << (opt - state->own);
	rc = opt_store(opt, value, own ? base : state, &err);
	if (rc == PRINTED)
		return EXIT_SUCCESS;
	return rc ? opts_usage(state, "--%s", err.what) : OPTS_PARSED;
}

static int take_letters(struct opts_state *state, const char *letters, void *base)
{
	int code = OPTS_PARSED;

	while (code == OPTS_PARSED && *letters) {
		const struct opt *opt = find_letter(state->own, *letters)
						?: find_letter(common_of(state), *letters);
		const char *inside;

		if (!opt)
			return opts_usage(state, "unknown option -%c", *letters);
		letters++;
		inside = opt->arg && *letters ? letters : NULL;
		if (inside)
			letters = "";
		code = take_option(state, opt, inside, base);
	}
	return code;
}

static int unknown_long(const struct opts_state *state, const char *word, size_t len)
{
	const struct opt *const tables[] = {state->own, common_of(state)};
	struct opt_nearest nearest = {0};

	array_for_each(table, tables, ARRAY_SIZE(tables))
		for (const struct opt *opt = *table; opt->name && opt->help; opt++)
			opt_nearest(&nearest, word, len, opt->name);
	return opts_usage(state, "unknown option --%.*s%s%s%s", (int)len, word,
			  nearest.name ? "; did you mean --" : "", nearest.name ?: "",
			  nearest.name ? "?" : "");
}

static int take_long(struct opts_state *state, const char *word, void *base)
{
	size_t len = strcspn(word, "=");
	const struct opt *opt =
		opt_find(state->own, word, len) ?: opt_find(common_of(state), word, len);

	if (!opt)
		return unknown_long(state, word, len);
	return take_option(state, opt, word[len] ? word + len + 1 : NULL, base);
}

static int parse_interval(struct opts_interval *at, const char *word, struct err *err)
{
	static const struct opt operands[] = {
		{"interval", 0, "TIME",
		 OPT_DURATION(struct opts_interval, interval_ns, NSEC_PER_MSEC, 86400e9)},
		{"count", 0, "N", OPT_NUMBER(struct opts_interval, count, 1, UINT32_MAX)},
	};

	if (at->given == 2)
		return err_set(err, -EINVAL, "unexpected operand %s: expected [interval [count]]",
			       word);
	/* Without a count the command runs until it is stopped, as vmstat does. */
	at->count = 0;
	return opt_store(&operands[at->given++], word, at, err);
}

static int take_operand(struct opts_state *state, const char *word, void *base)
{
	struct err err = {0};
	int rc;

	if (!state->operand && !state->interval)
		return opts_usage(state, "unexpected operand %s", word);
	rc = state->operand ? state->operand(state, word, base, &err)
			    : parse_interval(state->interval, word, &err);
	return rc ? opts_usage(state, "%s", err.what) : OPTS_PARSED;
}

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

int opts_walk(struct opts_state *state, int argc, char **argv, void *base)
{
	int code = OPTS_PARSED;
	struct err err = {0};

	state->argc = argc;
	state->argv = argv;
	state->index = 1;
	state->no_more = false;
	if (state->view)
		view_stdout(state->view);
	while (code == OPTS_PARSED && state->index < argc) {
		const char *word = argv[state->index++];

		if (state->no_more || word[0] != '-' || !word[1])
			code = take_operand(state, word, base);
		else if (word[1] != '-')
			code = take_letters(state, word + 1, base);
		else if (word[2])
			code = take_long(state, word + 2, base);
		else
			state->no_more = true;
	}
	if (code == OPTS_PARSED && state->check && state->check(state, base, &err))
		code = opts_usage(state, "%s", err.what);
	return code;
}

bool opts_given(const struct opts_state *state, const char *name)
{
	return state->given >> (opt_find(state->own, name, strlen(name)) - state->own) & 1;
}

const struct opt *opts_group(const struct opts_state *state, const char *group)
{
	for (const struct opt *opt = state->own; opt->name; opt++)
		if (state->given >> (opt - state->own) & 1 && opt->group &&
		    !strcmp(opt->group, group))
			return opt;
	return NULL;
}

int opts_svg(const struct opt *opt, const char *value, void *base, struct err *err)
{
	static const char *const others[] = {".png", ".jpg", ".jpeg", ".gif", ".pdf", ".webp"};
	const char *dot = strrchr(value, '.') ?: "";

	array_for_each(other, others, ARRAY_SIZE(others))
		if (!strcasecmp(dot, *other))
			return err_set(err, -EINVAL,
				       "plots are SVG; use a name that ends in .svg");
	return opt_text(opt, value, base, err);
}

int opts_cpus(const struct opt *opt, const char *value, void *base, struct err *err)
{
	const struct cpuset *cpus = (struct cpuset *)((char *)base + opt->offset);
	struct cpuset possible;
	int rc = opt_cpus(opt, value, base, err);
	char list[64];

	if (rc || cpu_set(NULL, CPU_POSSIBLE, &possible, NULL))
		return rc;
	cpuset_for_each(cpu, cpus) {
		if (cpuset_has(&possible, cpu))
			continue;
		cpuset_format(&possible, list, sizeof(list));
		return err_set(err, -EINVAL, "CPU %u is out of range; this machine has %s", cpu,
			       list);
	}
	return 0;
}

bool opts_percent(const char *word, double *ret_percent)
{
	return opt_decimal(word, "", DBL_MIN, 100.0, ret_percent);
}

const char *opts_percentile(const char *value, double *ret_percent)
{
	const char *equals = strchr(value, '=');
	char percent[32];

	if (!equals || value[0] != 'p' || equals - value > (long)sizeof(percent))
		return NULL;
	snprintf(percent, sizeof(percent), "%.*s", (int)(equals - value - 1), value + 1);
	return opts_percent(percent, ret_percent) ? equals + 1 : NULL;
}

int opts_fail(const char *command, const struct err *err)
{
	fprintf(stderr, "subtick%s%s: %s\n", command ? " " : "", command ? command : "", err->what);
	if (err->fix[0])
		fprintf(stderr, "  fix: %s\n", err->fix);
	return err->unsupported ? EXIT_UNSUPPORTED : EXIT_ERROR;
}
