/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick audit: measures the errors of the kernel's CPU figures on this machine. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit_rows.h"
#include "base/array.h"
#include "base/clock.h"
#include "opts.h"
#include "output.h"
#include "present/audit.h"
#include "run.h"
#include "host/cpu.h"
#include "view/svg/plots.h"

struct audit_experiment {
	const char *name;
	/* Runs the experiment. After an error, *ret_report is NULL or has the results so far. */
	int (*run)(const struct audit_opts *opts, const struct audit_env *env,
		   struct audit_findings *findings, struct report **ret_report, struct err *err);
	const struct audit_figures *figures;
	double share;	   /* part of the time budget (--budget) for the experiment, from 0 to 1 */
	uint64_t least_ns; /* minimum duration in ns for which the experiment yields a result */
};

static int run_ticks(const struct audit_opts *opts, const struct audit_env *env,
		     struct audit_findings *findings, struct report **ret_report, struct err *err)
{
	struct audit_ticks ticks;
	int rc = audit_ticks(opts, env, findings, &ticks, err)
			 ?: audit_ticks_report(opts, findings, &ticks, ret_report, err);

	audit_ticks_free(&ticks);
	return rc;
}

static int run_delays(const struct audit_opts *opts, const struct audit_env *env,
		      struct audit_findings *findings, struct report **ret_report, struct err *err)
{
	struct audit_delays delays;
	int rc = audit_delays(opts, env, findings, &delays, err);

	/* After an error, the rows that were measured before the error are still reported. */
	if (!rc)
		rc = audit_delays_report(opts, findings, &delays, false, ret_report, err);
	else if (delays.nr)
		audit_delays_report(opts, findings, &delays, false, ret_report, NULL);
	audit_delays_free(&delays);
	return rc;
}

static int run_sources(const struct audit_opts *opts, const struct audit_env *env,
		       struct audit_findings *findings, struct report **ret_report, struct err *err)
{
	struct audit_sources *sources = malloc(sizeof(*sources));
	int rc;

	if (!sources)
		return err_set(err, -ENOMEM, "out of memory");
	rc = audit_sources(opts, env, findings, sources, err)
		     ?: audit_sources_report(opts, findings, sources, ret_report, err);
	free(sources);
	return rc;
}

static const struct audit_experiment experiments[] = {
	{"ticks", run_ticks, &audit_figures_ticks, 0.14, 500 * NSEC_PER_MSEC},
	{"delays", run_delays, &audit_figures_delays, 0.18, 0},
	{"sources", run_sources, &audit_figures_sources, 0.68, 400 * NSEC_PER_MSEC},
};

/* Copies the path of --plot to @buf. If all experiments run, "x.svg" becomes "x-ticks.svg" etc. */
static int plot_path(const struct audit_cmd *cmd, const char *experiment, char *buf, size_t size,
		     struct err *err)
{
	const char *path = cmd->plot, *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	int stem = dot && dot > (slash ?: path) ? (int)(dot - path) : (int)strlen(path);
	int len = cmd->only ? snprintf(buf, size, "%s", path)
			    : snprintf(buf, size, "%.*s-%s%s", stem, path, experiment, path + stem);

	return len < (int)size ? 0 : err_set(err, -ENAMETOOLONG, "--plot: %.80s… is too long", path);
}

/* Checks before the measurement that the files of --plot can be written. */
static int plots_check(const struct audit_cmd *cmd, struct err *err)
{
	char path[4096];
	int rc = 0;

	array_for_each(e, experiments, cmd->plot ? ARRAY_SIZE(experiments) : 0)
		if (!cmd->only || !strcmp(cmd->only, e->name))
			rc = rc ?: plot_path(cmd, e->name, path, sizeof(path), err)
				?: output_check(path, err);
	return rc;
}

static int plots_draw(const struct audit_cmd *cmd, const struct audit_experiment *e,
		      const struct report *report, struct err *err)
{
	struct output_file file;
	char path[4096];

	if (!cmd->plot)
		return 0;
	return plot_path(cmd, e->name, path, sizeof(path), err)
		?: output_open(&file, path, err)
		?: output_close(&file, audit_plot(file.out, e->figures, report), err);
}

static void show_progress(const char *what)
{
	fprintf(stderr, "\r\033[K%s …", what);
}

static void clear_progress(const struct audit_env *env)
{
	if (env->progress)
		fputs("\r\033[K", stderr);
}

/* Prints and frees the report. Sets @ret_gone to true if the reader closed the pipe. */
static int show(struct audit_cmd *cmd, struct report *report, bool *ret_gone)
{
	struct err err = {0};

	*ret_gone = output_report(&cmd->view, report, &err) == -EPIPE;
	return err.code ? opts_fail("audit", &err) : EXIT_SUCCESS;
}

static int show_experiment(struct audit_cmd *cmd, const struct audit_experiment *e,
			   struct report *report, bool *ret_gone)
{
	struct err err = {0};
	/* The results are printed even if the plot failed. */
	int undrawn = plots_draw(cmd, e, report, &err) ? opts_fail("audit", &err) : 0;
	int code = EXIT_SUCCESS;

	*ret_gone = cmd->rows.gone;
	/* In CSV format, the rows of `subtick audit delays` were printed during the experiment. */
	if (*ret_gone || (cmd->view.format == VIEW_CSV && !strcmp(e->name, "delays")))
		report_free(report);
	else
		code = show(cmd, report, ret_gone);
	if (cmd->rows.failed.code)
		return opts_fail("audit", &cmd->rows.failed);
	return code ?: undrawn;
}

/* Time in ns for experiment @e. If the time is too short, the report lists the skipped parts. */
static uint64_t budget_of(const struct audit_experiment *e, uint64_t end_ns, double share)
{
	uint64_t now = clock_mono_ns();
	uint64_t until = audit_part_end(now, end_ns, share, e->least_ns) ?: end_ns;

	return until > now ? until - now : 1;
}

static int run_experiments(struct audit_cmd *cmd, const struct audit_env *env, bool *ret_gone,
			   bool *ret_lacks)
{
	uint64_t end = cmd->opts.budget_ns ? clock_mono_ns() + cmd->opts.budget_ns : UINT64_MAX;
	double shares = 1.0; /* sum of the budget shares of the experiments that have not run yet */
	struct err err = {0};
	int code = EXIT_SUCCESS;

	array_for_each(e, experiments, ARRAY_SIZE(experiments)) {
		struct report *report = NULL;
		int failed;

		if (code || *ret_gone || run_stopped())
			break;
		if (cmd->only && strcmp(cmd->only, e->name))
			continue;
		if (!cmd->only && end != UINT64_MAX)
			cmd->opts.budget_ns = budget_of(e, end, e->share / shares);
		shares -= e->share;
		err = (struct err){0};
		failed = e->run(&cmd->opts, env, &cmd->findings, &report, &err);
		clear_progress(env);
		if (report)
			code = show_experiment(cmd, e, report, ret_gone);
		if (!failed)
			continue;
		failed = opts_fail("audit", &err);
		/* Continue after an unsupported experiment: other experiments may still work. */
		if (cmd->only || failed != EXIT_UNSUPPORTED)
			return failed;
		*ret_lacks = true;
	}
	return code;
}

static int judge(const struct audit_cmd *cmd)
{
	const struct audit_findings *f = &cmd->findings;

	if (cmd->fail_over < 0.0)
		return EXIT_SUCCESS;
	if (!f->worst_known) {
		fprintf(stderr, "subtick audit: --fail-over: no error was measured in windows of a "
				"second or longer; try a longer --budget\n");
		return EXIT_ERROR;
	}
	if (f->worst_error <= cmd->fail_over)
		return EXIT_SUCCESS;
	fprintf(stderr,
		"subtick audit: /proc/stat was off by %.1f points, more than %g, under load %s\n",
		f->worst_error * 100.0, cmd->fail_over * 100.0, f->worst_load);
	return EXIT_VERDICT;
}

static int run(struct audit_cmd *cmd)
{
	struct audit_env env = {.wait = run_wait,
				.progress = isatty(STDERR_FILENO) ? show_progress : NULL,
				.row = audit_rows_done,
				.arg = &cmd->rows};
	struct report *report;
	struct cpuset audited = {0};
	struct audit_precision precision;
	uint64_t begin = clock_mono_ns();
	struct err err = {0};
	bool gone = false, lacks = false;
	int code;

	cmd->opts.brief = !cmd->only;
	if (plots_check(cmd, &err) || output_check(cmd->rows.save, &err) ||
	    (cmd->rows.resume && audit_rows_resume(&cmd->rows, &cmd->opts, &err)))
		return opts_fail("audit", &err);
	run_signals();
	cpuset_add(&audited, cmd->opts.cpu);
	run_avoid(&audited);
	if (cmd->only && !strcmp(cmd->only, "precision")) {
		code = audit_precision(&cmd->opts, &env, cmd->want, cmd->hz, &precision, &err);
		clear_progress(&env);
		if (!code)
			code = audit_precision_report(&cmd->opts, &precision, &report, &err);
		return code ? opts_fail("audit", &err) : show(cmd, report, &gone);
	}
	if (cmd->paper) {
		code = audit_paper(cmd, &env, &err);
		return code && err.code ? opts_fail("audit", &err) : judge(cmd);
	}
	code = run_experiments(cmd, &env, &gone, &lacks);
	if (!code && !gone && !cmd->only) {
		if (audit_verdict_report(&cmd->opts, &cmd->findings, clock_mono_ns() - begin,
					 &report, &err))
			return opts_fail("audit", &err);
		code = show(cmd, report, &gone);
	}
	if (!code)
		code = judge(cmd);
	return code ? code : lacks ? EXIT_UNSUPPORTED : EXIT_SUCCESS;
}

/* Runs COMMAND on @cpu, or on the allowed CPUs of subtick if @cpu is negative. */
static int audit_command_run(char *const *argv, int cpu, struct view *view)
{
	struct audit_command_opts opts = {.argv = argv, .out_to_err = view->format != VIEW_TEXT};
	struct audit_env env = {.wait = run_wait};
	struct audit_findings findings = {0};
	struct audit_command command;
	struct report *report;
	struct err err = {0};
	int code;

	audit_command_inherit(&opts);
	run_signals();
	if (cpu >= 0) {
		cpuset_add(&opts.cpus, (unsigned int)cpu);
		run_avoid(&opts.cpus);
	} else if (affinity_get(0, &opts.cpus)) {
		err_set(&err, -errno, "cannot read the CPUs of this process: %s", strerror(errno));
		return opts_fail("audit", &err);
	}
	if (audit_command(&opts, &env, &findings, &command, &err) ||
	    audit_command_report(&findings, &command, &report, &err))
		return opts_fail("audit", &err);
	output_report(view, report, &err);
	code = err.code ? opts_fail("audit", &err) : EXIT_SUCCESS;
	if (!code && (!WIFEXITED(command.status) || WEXITSTATUS(command.status))) {
		fprintf(stderr, "subtick audit: the command %s %d\n",
			WIFEXITED(command.status) ? "exited with" : "was ended by signal",
			WIFEXITED(command.status) ? WEXITSTATUS(command.status)
						  : WTERMSIG(command.status));
		code = EXIT_ERROR;
	}
	return code;
}

int cmd_audit(int argc, char **argv)
{
	struct audit_cmd cmd;
	int code = audit_opts_parse(&cmd, argc, argv);

	if (code != OPTS_PARSED)
		return code;
	cmd.rows.view = &cmd.view;
	cmd.rows.opts = &cmd.opts;
	cmd.rows.findings = &cmd.findings;
	if (cmd.command)
		return audit_command_run(cmd.command, cmd.cpu_given ? (int)cmd.opts.cpu : -1,
					 &cmd.view);
	code = run(&cmd);
	audit_rows_free(&cmd.rows);
	return code;
}
