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
#include "sys/cpu.h"
#include "view/schema.h"

enum {
	ID_JSON = 0x1000,
	ID_CSV,
	ID_COLOR,
	ID_HELP,
	ID_SCHEMA,
	ID_TABLE,
};

static const char *const color_words[] = {"auto", "always", "never", NULL};

static const struct opt common[] = {
	{"json", 0, NULL, "JSON, one object per line", .id = ID_JSON},
	{"csv", 0, NULL, "comma-separated values with a header", .id = ID_CSV},
	{"color", 0, "WHEN", "auto, always or never (default auto; NO_COLOR is respected)",
	 .id = ID_COLOR, .words = color_words},
	{"json-schema", 0, NULL, "show the JSON Schema of --json and exit", .id = ID_SCHEMA},
	{"help", 'h', NULL, "show this help", .id = ID_HELP},
	{0},
};

/* For packaging/completion/generate, not for people. */
static const struct opt hidden[] = {
	{"option-table", 0, NULL, NULL, .id = ID_TABLE},
	{0},
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

static void table_list(const struct opt *opt)
{
	for (; opt->name; opt++) {
		printf("option\t%s%.1s\t--%s\t%s\t", opt->letter ? "-" : "", &opt->letter, opt->name,
		       opt->arg ? opt->arg : "");
		for (const char *const *word = opt->words; word && *word; word++)
			printf("%s%s", word == opt->words ? "" : " ", *word);
		printf("\t%s\n", opt->help);
	}
}

void opts_table_command(const char *name, const char *summary)
{
	printf("command\t%s\t%s\n", name, summary);
}

/* One line per option and word, tabs between the fields. */
static void print_table(const struct opts_state *state)
{
	for (const char *const *word = state->operands; word && *word; word++)
		printf("operand\t%s\n", *word);
	table_list(state->own);
	table_list(common_of(state));
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

static bool set_color(struct opts_state *state)
{
	if (!strcmp(state->value, "always"))
		state->view->color = true;
	else if (!strcmp(state->value, "never"))
		state->view->color = false;
	else if (strcmp(state->value, "auto")) {
		opts_usage(state, "--color %s: expected auto, always or never", state->value);
		return false;
	}
	return true;
}

static bool set_format(struct opts_state *state, enum view_format format)
{
	if (state->view->format != VIEW_TEXT && state->view->format != format) {
		opts_usage(state, "--json and --csv exclude each other");
		return false;
	}
	state->view->format = format;
	return true;
}

/* The option's argument, from the same word or the next one. */
static bool option_value(struct opts_state *state, const struct opt *opt, const char *inside)
{
	state->value = inside;
	if (!opt->arg && inside) {
		opts_usage(state, "--%s takes no value", opt->name);
		return false;
	}
	if (!opt->arg || inside)
		return true;
	if (state->index >= state->argc) {
		opts_usage(state, "--%s needs a value: %s", opt->name, opt->arg);
		return false;
	}
	state->value = state->argv[state->index++];
	return true;
}

static const struct opt *next_letter(struct opts_state *state)
{
	char letter = *state->cluster++;
	const struct opt *opt = find_letter(state->own, letter);
	const char *inside = NULL;

	if (!opt)
		opt = find_letter(common_of(state), letter);
	if (!opt) {
		opts_usage(state, "unknown option -%c", letter);
		return NULL;
	}
	if (opt->arg && *state->cluster) {
		inside = state->cluster;
		state->cluster = "";
	}
	return option_value(state, opt, inside) ? opt : NULL;
}

static const struct opt *next_long(struct opts_state *state, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	const struct opt *opt = find_long(state->own, word, len);

	if (!opt)
		opt = find_long(common_of(state), word, len);
	if (!opt)
		opt = find_long(hidden, word, len);
	if (!opt) {
		opts_usage(state, "unknown option --%.*s", (int)len, word);
		return NULL;
	}
	return option_value(state, opt, equals ? equals + 1 : NULL) ? opt : NULL;
}

/* NULL at an operand, and at the end or a mistake, where @ret_code is what opts_walk() returns. */
static const struct opt *next_option(struct opts_state *state, int *ret_code)
{
	const struct opt *opt = NULL;

	while (!state->cluster || !*state->cluster) {
		const char *word;

		state->value = NULL;
		if (state->index >= state->argc) {
			*ret_code = OPTS_PARSED;
			return NULL;
		}
		word = state->argv[state->index++];
		if (state->no_more || word[0] != '-' || !word[1]) {
			state->value = word;
			return NULL;
		}
		if (word[1] != '-') {
			state->cluster = word + 1;
		} else if (word[2]) {
			opt = next_long(state, word + 2);
			break;
		} else {
			state->no_more = true;
		}
	}
	if (state->cluster && *state->cluster)
		opt = next_letter(state);
	if (!opt)
		*ret_code = EXIT_USAGE;
	return opt;
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

static bool parse_cpus(const struct opts_state *state, const char *name, const char *value,
		       struct cpuset *ret_cpus)
{
	struct cpuset cpus;

	if (cpuset_parse(value, &cpus) || !cpuset_count(&cpus)) {
		opts_usage(state, "%s %s: expected a list of CPUs such as 0,2-5", name, value);
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

bool opts_percent(const char *word, double *ret_percent)
{
	char *end;
	double percent = strtod(word, &end);

	if (!isdigit((unsigned char)*word) || *end || !(percent > 0.0 && percent <= 100.0))
		return false;
	*ret_percent = percent;
	return true;
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

static bool parse_ratio(const struct opts_state *state, const char *name, const char *value,
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

/* The index of @value in the option's words. */
static bool parse_word(const struct opts_state *state, const struct opt *opt,
		       unsigned int *ret_index)
{
	for (unsigned int i = 0; opt->words[i]; i++)
		if (!strcmp(state->value, opt->words[i])) {
			*ret_index = i;
			return true;
		}
	opts_usage(state, "--%s %s: expected %s", opt->name, state->value, opt->expected);
	return false;
}

/* @at: the member of the command's struct. */
static bool store(const struct opts_state *state, const struct opt *opt, void *at)
{
	const char *value = state->value;
	uint64_t number;
	char name[32];

	snprintf(name, sizeof(name), "--%s", opt->name);
	switch (opt->kind) {
	case OPT_FLAG:
		*(bool *)at = true;
		return true;
	case OPT_TEXT:
		*(const char **)at = value;
		return true;
	case OPT_CPUS:
		return parse_cpus(state, name, value, at);
	case OPT_U32:
		if (!opts_u64(state, name, value, opt->min, opt->max, &number))
			return false;
		*(uint32_t *)at = number;
		return true;
	case OPT_U64:
		return opts_u64(state, name, value, opt->min, opt->max, at);
	case OPT_TIME:
		return opts_duration(state, name, value, opt->min, opt->max, at);
	case OPT_RATIO:
		return parse_ratio(state, name, value, opt->arg + 1, opt->min, opt->max, at);
	case OPT_WORD:
		return parse_word(state, opt, at);
	case OPT_WIDE:
		state->view->wide = true;
		return true;
	default:
		state->view->all = true;
		return true;
	}
}

static bool apply(struct opts_state *state, const struct opt *opt, opts_parse *parse, void *arg)
{
	switch (opt->id) {
	case ID_JSON:
		return set_format(state, VIEW_JSON);
	case ID_CSV:
		return set_format(state, VIEW_CSV);
	case ID_COLOR:
		return set_color(state);
	default:
		state->given |= 1ULL << (opt - state->own);
		if (opt->kind == OPT_BY_ID)
			return parse(state, opt->id, arg);
		return store(state, opt, (char *)arg + opt->offset);
	}
}

int opts_walk(struct opts_state *state, int argc, char **argv, opts_parse *parse, void *arg)
{
	state->argc = argc;
	state->argv = argv;
	state->index = 1;
	if (state->view)
		view_stdout(state->view);
	for (;;) {
		int code = 0;
		const struct opt *opt = next_option(state, &code);

		if (code)
			return code;
		if (opt && opt->id == ID_HELP) {
			print_help(state);
			return EXIT_SUCCESS;
		}
		if (opt && opt->id == ID_SCHEMA) {
			view_schema(stdout, state->command ? state->command : "overview");
			return EXIT_SUCCESS;
		}
		if (opt && opt->id == ID_TABLE) {
			print_table(state);
			return EXIT_SUCCESS;
		}
		if (!(opt ? apply(state, opt, parse, arg) : parse(state, OPT_OPERAND, arg)))
			return EXIT_USAGE;
	}
}

bool opts_svg(const struct opts_state *state, const char *path)
{
	static const char *const others[] = {".png", ".jpg", ".jpeg", ".gif", ".pdf", ".webp"};
	const char *dot = path ? strrchr(path, '.') : NULL;

	for (size_t i = 0; dot && i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcasecmp(dot, others[i])) {
			opts_usage(state, "--plot %s: plots are SVG; use a name that ends in .svg",
				   path);
			return false;
		}
	return true;
}

bool opts_given(const struct opts_state *state, const char *name)
{
	return state->given >> (find_long(state->own, name, strlen(name)) - state->own) & 1;
}

const struct opt *opts_group(const struct opts_state *state, const char *group)
{
	for (const struct opt *opt = state->own; opt->name; opt++)
		if (state->given >> (opt - state->own) & 1 && opt->group &&
		    !strcmp(opt->group, group))
			return opt;
	return NULL;
}

bool opts_list(const struct opts_state *state, void *arg,
	       bool (*fn)(const struct opts_state *state, const char *word, void *arg))
{
	char *list = strdup(state->value), *rest = list, *word;
	bool fine = list;

	while (fine && (word = strsep(&rest, ",")))
		fine = fn(state, word, arg);
	free(list);
	return fine;
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

bool opts_cpus_exist(const struct opts_state *state, const struct cpuset *cpus)
{
	struct cpuset possible;
	unsigned int cpu;
	char list[64];

	if (cpu_set(NULL, CPU_POSSIBLE, &possible, NULL))
		return true;
	cpuset_for_each(cpu, cpus) {
		if (cpuset_has(&possible, cpu))
			continue;
		cpuset_format(&possible, list, sizeof(list));
		opts_usage(state, "--cpu: CPU %u is out of range; this machine has %s", cpu, list);
		return false;
	}
	return true;
}
