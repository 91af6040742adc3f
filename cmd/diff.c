/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick diff: shows the changes between two files of saved output. */
#include "commands.h"

#include <errno.h>

#include "base/array.h"
#include "output.h"
#include "opts.h"
#include "present/diff.h"
#include "report/report.h"

struct diff_cmd {
	struct diff_side sides[2];
	size_t nr;
	struct view view;
};

static const struct opt options[] = {
	{"all", 0, NULL, "text: also figures that did not change", OPT_STORE(struct diff_cmd, view.all)},
	{0},
};

static int add_file(struct opts_state *state, const char *word, void *base, struct err *err)
{
	struct diff_cmd *cmd = base;

	if (cmd->nr == 2)
		return err_set(err, -E2BIG, "unexpected operand %.80s: expected two files", word);
	cmd->sides[cmd->nr++].file = word;
	return 0;
}

static int check(const struct opts_state *state, void *base, struct err *err)
{
	const struct diff_cmd *cmd = base;

	return cmd->nr == 2 ? 0 : err_set(err, -EINVAL, "expected two files with saved --json output");
}

int cmd_diff(int argc, char **argv)
{
	struct diff_cmd cmd = {0};
	struct opts_state state = {
		.command = "diff",
		.synopsis = "diff [options] BEFORE.json AFTER.json",
		.summary = "Changes between two files of saved --json output of load, runq, "
			   "noise, wake or crit.\nWith three windows or more in both files, only "
			   "significant changes are shown.",
		.own = options,
		.view = &cmd.view,
		.tables = diff_tables,
		.operand = add_file,
		.check = check,
	};
	struct report *report = NULL;
	struct err err = {0};
	int rc = opts_walk(&state, argc, argv, &cmd);

	if (rc != OPTS_PARSED)
		return rc;
	rc = 0;
	array_for_each(side, cmd.sides, 2)
		rc = rc ?: input_reports(side->file, &side->windows, &side->nr, &err);
	if (!rc)
		rc = diff_report(cmd.sides, cmd.view.all || cmd.view.format != VIEW_TEXT, &report, &err)
			?: output_report(&cmd.view, report, &err);
	array_for_each(side, cmd.sides, 2)
		input_reports_free(side->windows, side->nr);
	return rc && rc != -EPIPE ? opts_fail("diff", &err) : EXIT_SUCCESS;
}
