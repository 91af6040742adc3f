/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick report: all measurements in one self-contained HTML file. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "output.h"
#include "opts.h"
#include "report_run.h"
#include "run.h"
#include "serve/history_file.h"

#define DEFAULT_FILE "subtick-report.html"
#define MAX_FROM     64
#define MAX_SECONDS  86400

struct report_cmd {
	uint64_t seconds;
	const char *output;
	const char *from[MAX_FROM];
	size_t nr_from;
	/* bit set of the measurements to run, indexed as report_collectors; 0 for the default */
	uint32_t collect;
	/* Start of --at (Unix time in ns), or 0 to measure now. Length of the time span in ns. */
	uint64_t at_ns, for_ns;
	const char *history;
};

static int add_from(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct report_cmd *cmd = base;

	if (cmd->nr_from == MAX_FROM)
		return err_set(err, -E2BIG, "at most %d files", MAX_FROM);
	cmd->from[cmd->nr_from++] = value;
	return 0;
}

static const struct opt options[] = {
	{"seconds", 0, "N", "observe for N seconds with load, runq, noise and wake (default 10)",
	 OPT_NUMBER(struct report_cmd, seconds, 1, MAX_SECONDS)},
	{"output", 'o', "FILE", "output file, - for standard output (default " DEFAULT_FILE ")",
	 OPT_STORE(struct report_cmd, output)},
	{"collect", 0, "LIST",
	 "run some of load,runq,noise,wake,doctor (default: these) and audit,crit, which load "
	 "cores",
	 OPT_SET(struct report_cmd, collect, report_collectors),
	 .expected = "some of load,runq,noise,wake,audit,crit,doctor"},
	{"from", 0, "FILE", "use saved --json output instead of measuring; more files may follow",
	 .parse = add_from},
#ifdef SUBTICK_SERVE
	{"at", 0, "TIME", "use windows of this time that subtick serve --history kept",
	 .parse = report_history_time, OPT_AT(struct report_cmd, at_ns),
	 .expected = "a time such as '2026-11-17 03:12', or '2026-11-17 03:12:30Z' for UTC"},
	{"for", 0, "TIME", "length of the time that begins at --at (default 5m)",
	 OPT_DURATION(struct report_cmd, for_ns, 1e9, 8.64e13)},
	{"history", 0, "DIR",
	 "directory of serve --history (default: the setting history of /etc/subtick.conf, "
	 "or " HISTORY_DIR ")",
	 OPT_STORE(struct report_cmd, history)},
#endif
	{0},
};

/* With --from, each operand is an additional input file. */
static int add_operand(struct opts_state *state, const char *word, void *base, struct err *err)
{
	const struct report_cmd *cmd = base;

	if (!cmd->nr_from)
		return err_set(err, -EINVAL,
			       "unexpected operand %.80s: input files go after --from", word);
	return add_from(NULL, word, base, err);
}

static int gather_files(struct gathered *g, const struct report_cmd *cmd, struct err *err)
{
	array_for_each(path, cmd->from, cmd->nr_from) {
		size_t size, before = g->nr_windows;
		char *text = input_read(*path, &size, err);
		int rc;

		if (!text)
			return err->code;
		rc = gathered_read(g, text, size, err);
		free(text);
		if (rc)
			return err_prefix(err, "%s", *path);
		if (g->nr_windows == before)
			return err_set(err, -ENODATA,
				       "%s contains no report: save the output of a command with "
				       "--json",
				       *path);
	}
	return 0;
}

static bool is_saved(const struct report_cmd *cmd)
{
	return cmd->nr_from || cmd->at_ns;
}

static int run(const struct report_cmd *cmd, struct gathered *g, struct err *err)
{
	char machine[512];
	struct output_file file;
	int rc = output_check(cmd->output, err) ?: gathered_open(g, err);

	if (rc)
		return rc;
	output_machine(machine, sizeof(machine));
	g->doc.machine = is_saved(cmd) ? NULL : machine;
	if (cmd->nr_from)
		rc = gather_files(g, cmd, err);
#ifdef SUBTICK_SERVE
	if (cmd->at_ns)
		rc = report_history(g, cmd->history, cmd->at_ns, cmd->for_ns, err);
#endif
	/*
	 * Signals are blocked only now, because opening a named pipe of --from may wait for its
	 * writer.
	 */
	run_signals();
	if (!is_saved(cmd) && (rc = report_run(g, cmd->seconds, cmd->collect, isatty(STDERR_FILENO))))
		err_set(err, rc, "cannot run the measurements: %s", strerror(-rc));
	if (!rc && !g->nr_windows)
		rc = err_unsupported(err, -ENODATA, "run subtick doctor to see what is missing",
				     "nothing could be measured: %s",
				     g->doc.nr_missing ? g->doc.missing[0].why
						       : "nothing was selected");
	return rc ?: gathered_finish(g, err)
		?: output_open(&file, cmd->output, err)
		?: output_close(&file, html_write(file.out, &g->doc), err);
}

static void print_result(const struct report_cmd *cmd, const struct gathered *g)
{
	array_for_each(missing, g->doc.missing, g->doc.nr_missing)
		fprintf(stderr, "subtick report: without %s: %s\n", missing->command, missing->why);
	if (strcmp(cmd->output, "-"))
		fprintf(stderr, "subtick report: wrote %s\n", cmd->output);
}

int cmd_report(int argc, char **argv)
{
	struct report_cmd cmd = {
		.seconds = 10, .output = DEFAULT_FILE, .for_ns = 300 * NSEC_PER_SEC};
	struct gathered gathered = {0};
	struct opts_state state = {
		.command = "report",
		.synopsis = "report [options]\n       subtick report [-o FILE] --from FILE...\n"
			    "       subtick report [-o FILE] --at TIME [--for TIME] [--history DIR]",
		.summary = "Measures and writes one self-contained HTML file: the live page with "
			   "its charts and tables.",
		.own = options,
		.operand = add_operand,
	};
	struct err err = {0};
	int code = opts_walk(&state, argc, argv, &cmd);

	if (code != OPTS_PARSED)
		return code;
	if (is_saved(&cmd) && (opts_given(&state, "seconds") || cmd.collect))
		return opts_usage(&state, "--from and --at exclude --seconds and --collect, because "
					  "they measure nothing");
	if (cmd.nr_from && cmd.at_ns)
		return opts_usage(&state, "--from and --at exclude each other");
	if (!cmd.at_ns && (cmd.history || opts_given(&state, "for")))
		return opts_usage(&state, "--for and --history need --at");
	run(&cmd, &gathered, &err);
	if (!err.code)
		print_result(&cmd, &gathered);
	/* EXIT_UNSUPPORTED means that no measurement except doctor works on this machine. */
	code = gathered.doc.nr_missing && !gathered.measured ? EXIT_UNSUPPORTED : EXIT_SUCCESS;
	gathered_free(&gathered);
	return err.code ? opts_fail("report", &err) : code;
}
