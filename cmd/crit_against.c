/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads an earlier run from its JSON: only what the comparison needs, and every value is checked. */
#include "crit_against.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "input.h"
#include "report/report.h"

static struct crit_spread spread(const struct table *ops, size_t row, const char *key,
				 unsigned int rounds)
{
	struct crit_spread s = {.mid = table_number(ops, row, key), .rounds = rounds};
	char name[32];

	snprintf(name, sizeof(name), "%s_low", key);
	s.low = table_number(ops, row, name);
	snprintf(name, sizeof(name), "%s_high", key);
	s.high = table_number(ops, row, name);
	if (!(s.low <= s.mid && s.mid <= s.high))
		s = crit_spread_of(NULL, 0);
	return s;
}

static int read_ops(const struct table *ops, double rounds, struct crit_baseline *baseline)
{
	if (!ops || !(rounds >= 1 && rounds <= CRIT_MAX_ROUNDS))
		return -EINVAL;
	for (int op = 0; op < CRIT_NR_OPS; op++)
		baseline->op[op] = crit_spread_of(NULL, 0);
	for (size_t row = 0; row < ops->nr_rows; row++) {
		const char *name = table_str(ops, row, "op");

		for (int op = 0; name && op < CRIT_NR_OPS; op++) {
			if (strcmp(name, crit_op_names[op]))
				continue;
			baseline->op[op] = spread(ops, row, "batch", rounds);
			if (!baseline->op[op].rounds)
				baseline->op[op] = spread(ops, row, "median", rounds);
		}
	}
	return 0;
}

static int read_report(const struct report *report, struct crit_baseline *baseline)
{
	const char *engine = table_str(report->fields, 0, "engine");
	const struct value *work = table_get(report->fields, 0, "do_work");

	if (strcmp(report->command, "crit") || !engine)
		return -EINVAL;
	snprintf(baseline->engine, sizeof(baseline->engine), "%s", engine);
	baseline->work = work->kind == VALUE_BOOL && work->flag;
	return read_ops(report_find(report, "ops"), table_number(report->fields, 0, "rounds"),
			baseline);
}

int crit_against_read(const char *path, struct crit_baseline *ret_baseline, struct err *err)
{
	struct crit_baseline baseline = {0};
	struct report *report;
	int rc = input_report(path, &report, err);

	if (rc)
		return err_prefix(err, "--against");
	snprintf(baseline.name, sizeof(baseline.name), "%s", path);
	rc = read_report(report, &baseline);
	report_free(report);
	if (rc)
		return err_set(err, rc, "--against %s: not the output of subtick crit --json",
			       path);
	*ret_baseline = baseline;
	return 0;
}

int crit_against_check(const struct crit_baseline *baseline, const struct crit_engine *engine,
		       const struct crit_opts *opts, struct err *err)
{
	if (strcmp(baseline->engine, engine->ops->name))
		return err_set(err, -EINVAL,
			       "--against %s: measured by engine %s, but this run uses %s; use "
			       "--engine %s",
			       baseline->name, baseline->engine, engine->ops->name,
			       baseline->engine);
	if (baseline->work != opts->work)
		return err_set(err, -EINVAL,
			       "--against %s: measured with%s --work; run this one with%s it, too",
			       baseline->name, baseline->work ? "" : "out",
			       baseline->work ? "" : "out");
	return 0;
}
