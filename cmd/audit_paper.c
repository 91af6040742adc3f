/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick audit --paper DIR: repeats the experiments of the paper in docs/methods/audit.md. */
#include "audit_rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "output.h"
#include "view/html/html.h"
#include "view/svg/plots.h"

#define TICKS_NS  (20 * NSEC_PER_SEC)
/* duration of experiment "delays": 1.5 s for each of 18 delays and 2 timer slacks */
#define DELAYS_NS (54 * NSEC_PER_SEC)
/* Share of the time budget (--budget) for experiment "ticks". */
#define TICKS_SHARE 0.27
/* Estimated overhead of one loop iteration in ns: the timer and two context switches. */
#define LOOP_NS 5000

static const uint64_t slacks_ns[] = {AUDIT_DEFAULT_SLACK_NS, 1};

#define PATH_SIZE 4096

static int path_in(const struct audit_cmd *cmd, const char *name, char path[PATH_SIZE],
		   struct err *err)
{
	return snprintf(path, PATH_SIZE, "%s/%s", cmd->paper, name) < PATH_SIZE
		       ? 0
		       : err_set(err, -ENAMETOOLONG, "--paper: %.80s… is too long", cmd->paper);
}

static int directory_make(const struct audit_cmd *cmd, struct err *err)
{
	char path[PATH_SIZE];
	int rc = path_in(cmd, "index.html", path, err);

	if (!rc && mkdir(cmd->paper, 0777) && errno != EEXIST)
		return err_set(err, -errno, "--paper %.80s: %s", cmd->paper, strerror(errno));
	return rc ?: output_check(path, err);
}

/* Opens the file @name in the directory of --paper. @path must stay valid until output_close(). */
static int open_in(const struct audit_cmd *cmd, const char *name, char path[PATH_SIZE],
		   struct output_file *file, struct err *err)
{
	return path_in(cmd, name, path, err) ?: output_open(file, path, err);
}

static uint64_t estimate_ns(const struct audit_opts *opts)
{
	const uint64_t *delays_ns;
	size_t nr = audit_delays_paper(&delays_ns);
	uint64_t takes = TICKS_NS;

	if (opts->budget_ns && !opts->iterations)
		return opts->budget_ns;
	if (!opts->iterations)
		return TICKS_NS + DELAYS_NS;
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < ARRAY_SIZE(slacks_ns); k++)
			takes += opts->iterations *
				 (delays_ns[i] ? delays_ns[i] + slacks_ns[k] + LOOP_NS : 100);
	return takes;
}

static void note_time(const struct audit_cmd *cmd)
{
	uint64_t seconds = estimate_ns(&cmd->opts) / NSEC_PER_SEC;

	fprintf(stderr, "subtick audit: takes about %llu h %llu min %llu s; CPU %u is busy meanwhile%s\n",
		(unsigned long long)seconds / 3600, (unsigned long long)seconds / 60 % 60,
		(unsigned long long)seconds % 60, cmd->opts.cpu,
		seconds > 3600 && !cmd->rows.save ? "; --save FILE keeps finished rows" : "");
}

static int write_figures(const struct audit_cmd *cmd, const struct report *ticks,
			 const struct report *paper, struct err *err)
{
	int rc = 0;

	array_for_each(figure, audit_paper_figures, AUDIT_NR_PAPER_FIGURES) {
		struct output_file file;
		char name[32], path[PATH_SIZE];

		snprintf(name, sizeof(name), "figure-%s.svg", figure->number);
		rc = rc ?: open_in(cmd, name, path, &file, err)
			?: output_close(&file,
					svg_write(file.out, figure->of_ticks ? ticks : paper,
						  figure->plots, figure->nr),
					err);
	}
	return rc;
}

static int write_rest(const struct audit_cmd *cmd, const struct report *paper, struct err *err)
{
	struct output_file file;
	char path[PATH_SIZE];

	return path_in(cmd, "table-1.csv", path, err)
		?: output_view(path, VIEW_CSV, paper, err)
		?: open_in(cmd, "index.html", path, &file, err)
		?: output_close(&file, html_paper_write(file.out, paper), err);
}

/* Writes the paper's figures and table, prints the report of --paper, and frees @paper. */
static int finish(struct audit_cmd *cmd, const struct report *ticks, struct report *paper,
		  struct err *err)
{
	int rc = write_figures(cmd, ticks, paper, err) ?: write_rest(cmd, paper, err);

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
	note_time(cmd);
	opts->brief = false;
	opts->slacks_ns = slacks_ns;
	opts->nr_slacks = ARRAY_SIZE(slacks_ns);
	opts->budget_ns = budget ? (uint64_t)(TICKS_SHARE * (double)budget) : TICKS_NS;
	rc = audit_ticks(opts, env, &cmd->findings, &ticks, err)
		     ?: audit_ticks_report(opts, &cmd->findings, &ticks, &ticks_report, err);
	opts->budget_ns = budget ? budget - opts->budget_ns : DELAYS_NS;
	rc = rc ?: audit_delays(opts, env, &cmd->findings, &delays, err)
		?: audit_paper_report(opts, &cmd->findings, &ticks, &delays, &paper_report, err)
		?: finish(cmd, ticks_report, paper_report, err);
	report_free(ticks_report);
	audit_ticks_free(&ticks);
	audit_delays_free(&delays);
	return rc;
}
