/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick audit --paper DIR: repeats the paper's experiments and writes its figures and its table. */
#include "audit_paper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "opts.h"
#include "output.h"
#include "view/html/html.h"
#include "view/svg/plots.h"

#define TICKS_NS  (20 * NSEC_PER_SEC)
#define DELAYS_NS (54 * NSEC_PER_SEC) /* 1.5 s for each of 18 delays and 2 slacks */
/* Part of --budget for ticks, as in the run without it. */
#define TICKS_SHARE 0.27
/* Timer, switch to idle and back: an estimate, for the time of the whole run only. */
#define LOOP_NS 5000

static const uint64_t slacks_ns[] = {AUDIT_DEFAULT_SLACK_NS, 1};

/* A file of the directory that the run writes. */
static int path_in(const struct audit_cmd *cmd, const char *name, char *buf, size_t size, struct err *err)
{
	return snprintf(buf, size, "%s/%s", cmd->paper, name) < (int)size
		       ? 0
		       : err_set(err, -ENAMETOOLONG, "--paper: %.80s… is too long", cmd->paper);
}

static int directory_make(const struct audit_cmd *cmd, struct err *err)
{
	char path[4096];
	int rc = path_in(cmd, "index.html", path, sizeof(path), err);

	if (!rc && mkdir(cmd->paper, 0777) && errno != EEXIST)
		return err_set(err, -errno, "--paper %.80s: %s", cmd->paper, strerror(errno));
	return rc ?: output_check(path, err);
}

uint64_t audit_paper_takes(const struct audit_opts *opts)
{
	const uint64_t *us;
	size_t nr = audit_delays_paper(&us);
	uint64_t takes = TICKS_NS;

	if (opts->budget_ns && !opts->iterations)
		return opts->budget_ns;
	if (!opts->iterations)
		return TICKS_NS + DELAYS_NS;
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < sizeof(slacks_ns) / sizeof(slacks_ns[0]); k++)
			takes += us[i] ? opts->iterations * (us[i] * NSEC_PER_USEC + slacks_ns[k] + LOOP_NS)
				       : opts->iterations * 100;
	return takes;
}

static void say_time(const struct audit_cmd *cmd)
{
	uint64_t seconds = audit_paper_takes(&cmd->opts) / NSEC_PER_SEC;

	fprintf(stderr, "subtick audit: takes about %llu h %llu min %llu s; CPU %u is busy meanwhile%s\n",
		(unsigned long long)seconds / 3600, (unsigned long long)seconds / 60 % 60,
		(unsigned long long)seconds % 60, cmd->opts.cpu,
		seconds > 3600 && !cmd->rows.save ? "; --save FILE keeps finished rows" : "");
}

static int write_figures(const struct audit_cmd *cmd, const struct report *ticks,
			 const struct report *paper, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < AUDIT_NR_PAPER_FIGURES && !rc; i++) {
		const struct audit_paper_figure *figure = &audit_paper_figures[i];
		struct output_file file;
		char name[32], path[4096];

		snprintf(name, sizeof(name), "figure-%s.svg", figure->number);
		rc = path_in(cmd, name, path, sizeof(path), err);
		if (!rc)
			rc = output_open(&file, path, err);
		if (!rc)
			rc = output_close(&file,
					  svg_write(file.out, figure->of_ticks ? ticks : paper,
						    figure->plots, figure->nr),
					  err);
	}
	return rc;
}

static int write_rest(const struct audit_cmd *cmd, const struct report *paper, struct err *err)
{
	struct view view = {.format = VIEW_CSV};
	struct output_file file;
	char path[4096];
	int rc = path_in(cmd, "table-1.csv", path, sizeof(path), err);

	if (!rc)
		rc = output_open(&file, path, err);
	view.out = file.out;
	if (!rc)
		rc = output_close(&file, view_write(&view, paper), err);
	if (!rc)
		rc = path_in(cmd, "index.html", path, sizeof(path), err);
	if (!rc)
		rc = output_open(&file, path, err);
	return rc ?: output_close(&file, html_paper_write(file.out, paper), err);
}

/* Writes and frees the reports; prints the last one. */
static int finish(struct audit_cmd *cmd, struct report *ticks, struct report *paper, struct err *err)
{
	int rc = write_figures(cmd, ticks, paper, err);

	if (!rc)
		rc = write_rest(cmd, paper, err);
	report_free(ticks);
	if (rc) {
		report_free(paper);
		return rc;
	}
	fprintf(stderr, "subtick audit: wrote %s/index.html\n", cmd->paper);
	return output_report(&cmd->view, paper, err);
}

int audit_paper(struct audit_cmd *cmd, const struct audit_env *env, struct err *err)
{
	struct audit_opts *opts = &cmd->opts;
	uint64_t budget = opts->budget_ns;
	struct report *ticks_report = NULL, *paper_report = NULL;
	struct audit_delays delays = {0};
	struct audit_ticks ticks;
	int rc = directory_make(cmd, err);

	if (rc)
		return rc;
	say_time(cmd);
	opts->brief = false;
	opts->slacks_ns = slacks_ns;
	opts->nr_slacks = sizeof(slacks_ns) / sizeof(slacks_ns[0]);
	opts->budget_ns = budget ? (uint64_t)(TICKS_SHARE * (double)budget) : TICKS_NS;
	rc = audit_ticks(opts, env, &cmd->findings, &ticks, err);
	if (!rc)
		rc = audit_ticks_report(opts, &cmd->findings, &ticks, &ticks_report, err);
	opts->budget_ns = budget ? budget - opts->budget_ns : DELAYS_NS;
	if (!rc)
		rc = audit_delays(opts, env, &cmd->findings, &delays, err);
	if (!rc)
		rc = audit_paper_report(opts, &cmd->findings, &ticks, &delays, &paper_report, err);
	if (!rc)
		rc = finish(cmd, ticks_report, paper_report, err);
	else
		report_free(ticks_report);
	audit_ticks_free(&ticks);
	audit_delays_free(&delays);
	return rc;
}
