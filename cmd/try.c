/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick try: changes a setting for short rounds, measures the effect, restores the setting. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "output.h"
#include "measure/overview/overview.h"
#include "opts.h"
#include "present/present.h"
#include "present/try.h"
#include "report/findings.h"
#include "run.h"
#include "view/svg/svg.h"

#define OVERVIEW_NS (5 * NSEC_PER_SEC)

struct try_cmd {
	struct try_opts try;
	struct try_setting settings[TRY_MAX_SETTINGS];
	const char *watch[TRY_MAX_WATCHED];
	uint32_t finding;
	const char *from, *plot;
};

static int add_setting(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct try_cmd *cmd = base;

	if (cmd->try.nr_settings == TRY_MAX_SETTINGS)
		return err_set(err, -E2BIG, "at most %d settings", TRY_MAX_SETTINGS);
	return try_setting_parse(NULL, value, &cmd->settings[cmd->try.nr_settings++], err);
}

static int add_watch(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct try_cmd *cmd = base;

	if (cmd->try.nr_watch == TRY_MAX_WATCHED)
		return err_set(err, -E2BIG, "at most %d cgroups", TRY_MAX_WATCHED);
	cmd->watch[cmd->try.nr_watch++] = value;
	return 0;
}

static const struct opt options[] = {
	{"set", 0, "PATH=VALUE",
	 "change this file, such as /batch/cpu.weight=50; may be given again",
	 .parse = add_setting},
	{"a", 0, "COMMAND", "instead of --set: shell command that sets the original state",
	 OPT_STORE(struct try_cmd, try.a)},
	{"b", 0, "COMMAND", "with --a: shell command that sets the changed state",
	 OPT_STORE(struct try_cmd, try.b)},
	{"from-finding", 0, "N", "try the setting of finding N of the overview",
	 OPT_NUMBER(struct try_cmd, finding, 1, FINDINGS_MAX)},
	{"from", 0, "FILE", "with --from-finding: use saved output of subtick --json",
	 OPT_STORE(struct try_cmd, from)},
	{"watch", 'w', "CGROUP", "measure the waits of this cgroup; may be given again",
	 .parse = add_watch},
	{"rounds", 'r', "N", "pairs of an original and a changed round (default 10)",
	 OPT_NUMBER(struct try_cmd, try.rounds, PAIRED_MIN, PAIRED_MAX)},
	{"each", 0, "TIME", "length of a round (default 1s)",
	 OPT_DURATION(struct try_cmd, try.each_ns, 1e7, 3600e9)},
	{"settle", 0, "TIME", "ignore this time after each change (default 100ms)",
	 OPT_DURATION(struct try_cmd, try.settle_ns, 0, 3600e9)},
	{"budget", 0, "TIME", "limit of the total time (default 300s)",
	 OPT_DURATION(struct try_cmd, try.budget_ns, 1e8, 86400e9)},
	{"seed", 0, "N", "seed of the order of rounds (default: random)",
	 OPT_NUMBER(struct try_cmd, try.seed, 0, 9007199254740991)},
	{"plot", 0, "FILE.svg", "draw every round", .parse = opts_svg,
	 OPT_AT(struct try_cmd, plot)},
	{0},
};

static int check(const struct opts_state *state, void *base, struct err *err)
{
	const struct try_cmd *cmd = base;

	if (!cmd->try.a != !cmd->try.b)
		return err_set(err, -EINVAL, "--a needs --b, and --b needs --a");
	if ((cmd->try.nr_settings != 0) + (cmd->try.a != NULL) + (cmd->finding != 0) != 1)
		return err_set(err, -EINVAL,
			       "expected one of --set, --a with --b, or --from-finding");
	if (cmd->from && !cmd->finding)
		return err_set(err, -EINVAL, "--from needs --from-finding");
	return cmd->finding ? 0 : try_opts_check(&cmd->try, err);
}

static int overview_report(struct report **ret_report, struct err *err)
{
	struct meter *meter;
	int rc = overview_open(&(struct overview_opts){0}, &meter, err);

	if (rc)
		return rc;
	rc = meter->ops->start(meter, err);
	if (!rc && run_wait(clock_mono_ns() + OVERVIEW_NS))
		rc = err_set(err, -EINTR, "stopped");
	if (!rc)
		rc = meter->ops->read(meter, err)
			?: present_window("overview", meter, ret_report, err);
	meter->ops->close(meter);
	return rc;
}

/* Takes the setting to change and the cgroup to watch from @report, which must outlive the run. */
static int take_finding(struct try_cmd *cmd, const struct report *report, struct err *err)
{
	const struct table *findings = findings_of(report);
	size_t nr = findings ? findings->nr_rows : 0;
	const char *setting, *victim;

	if (cmd->finding > nr)
		return err_set(err, -ENOENT, "--from-finding %u: there are only %zu findings",
			       cmd->finding, nr);
	setting = table_str(findings, cmd->finding - 1, "next_setting");
	victim = table_str(findings, cmd->finding - 1, "victim");
	if (!setting)
		return err_set(err, -ENOENT, "--from-finding %u: this finding has no setting",
			       cmd->finding);
	if (!cmd->try.nr_watch && !victim)
		return err_set(err, -ENOENT,
			       "nothing to watch: finding %u has no victim; name a cgroup with "
			       "--watch",
			       cmd->finding);
	if (!cmd->try.nr_watch)
		cmd->watch[cmd->try.nr_watch++] = victim;
	cmd->try.nr_settings = 1;
	return try_setting_parse(NULL, setting, cmd->settings, err);
}

/* Draws two plots per watched cgroup: the mean and the 99th percentile of the waits, by round. */
static int draw(FILE *out, const struct report *report, const struct try_groups *groups)
{
	struct svg_series series[2 * TRY_MAX_WATCHED][2];
	struct svg_plot plots[2 * TRY_MAX_WATCHED];
	char title[2 * TRY_MAX_WATCHED][256];
	size_t nr = 2 * groups->nr_watched;

	for (size_t k = 0; k < nr; k++) {
		const char *path = groups->groups[k / 2].path;
		struct svg_series original = {.table = "pairs",
					      .where = "cgroup",
					      .equals = path,
					      .x = "pair",
					      .y = k % 2 ? "original_p99_ns" : "original_wait_ns",
					      .label = "original",
					      .mark = SVG_LINE};

		series[k][0] = series[k][1] = original;
		series[k][1].y = k % 2 ? "changed_p99_ns" : "changed_wait_ns";
		series[k][1].label = "changed";
		snprintf(title[k], sizeof(title[k]), "%s of the waits of %.200s",
			 k % 2 ? "99th percentile" : "Mean", path);
		plots[k] = (struct svg_plot){
			.title = title[k], .y_label = "wait", .series = series[k], .nr_series = 2};
	}
	return svg_write(out, report, plots, nr);
}

static void progress(unsigned int done, unsigned int total)
{
	fprintf(stderr, "\r\033[Kround %u of %u", done + 1, total);
}

static int show(struct try_cmd *cmd, const struct try_window *w, struct view *view,
		struct err *err)
{
	struct output_file plot;
	struct report *report;
	int rc = try_report(&cmd->try, w, &report);

	if (rc)
		return err_set(err, rc, "cannot make the report: %s", strerror(-rc));
	if (cmd->plot && !output_open(&plot, cmd->plot, err))
		output_close(&plot, draw(plot.out, report, &w->groups), err);
	output_report(view, report, err);
	if (!err->code && !w->restored)
		err_set(err, -EIO,
			"some settings could not be restored: /run/subtick/restore "
			"lists them");
	if (!err->code && w->ended.code && !w->stopped)
		*err = w->ended;
	return err->code;
}

static int run(struct try_cmd *cmd, struct view *view, struct err *err)
{
	struct try_run *run = NULL;
	int rc = try_open(&cmd->try, &run, err);

	if (!rc)
		rc = try_measure(run, err);
	if (cmd->try.progress)
		fprintf(stderr, "\r\033[K");
	if (!rc)
		rc = show(cmd, try_window(run), view, err);
	try_close(run);
	return rc;
}

static int prepare(struct try_cmd *cmd, struct view *view, struct err *err)
{
	struct report *report = NULL;
	int rc = output_check(cmd->plot, err);

	if (!rc && cmd->finding)
		rc = cmd->from ? input_report(cmd->from, &report, err)
			       : overview_report(&report, err);
	if (!rc && cmd->finding)
		rc = take_finding(cmd, report, err);
	if (!rc)
		run(cmd, view, err);
	report_free(report);
	return err->code;
}

int cmd_try(int argc, char **argv)
{
	/* struct try_cmd is allocated, because it is too large for the stack. */
	struct try_cmd *cmd = calloc(1, sizeof(*cmd));
	struct view view;
	struct err err = {0};
	struct opts_state state = {
		.command = "try",
		.synopsis = "try --set PATH=VALUE --watch CGROUP [options]",
		.summary = "The effect of a changed setting on the waits of a cgroup: rounds "
			   "with and without it in\nrandom order. The original setting is always "
			   "restored.",
		.own = options,
		.view = &view,
		.tables = try_tables,
		.check = check,
	};
	int code;

	if (!cmd) {
		err_set(&err, -ENOMEM, "out of memory");
		return opts_fail("try", &err);
	}
	cmd->try = (struct try_opts){
		.settings = cmd->settings,
		.watch = cmd->watch,
		.rounds = 10,
		.each_ns = NSEC_PER_SEC,
		.settle_ns = 100 * NSEC_PER_MSEC,
		.budget_ns = 300 * NSEC_PER_SEC,
		.seed = clock_unix_ns() % 1000000,
		.wait = run_wait_fd,
		.progress = isatty(STDERR_FILENO) ? progress : NULL,
	};
	code = opts_walk(&state, argc, argv, cmd);
	if (code == OPTS_PARSED) {
		run_signals();
		code = prepare(cmd, &view, &err) ? opts_fail("try", &err) : EXIT_SUCCESS;
	}
	free(cmd);
	return code;
}
