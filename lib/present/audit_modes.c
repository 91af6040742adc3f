/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills the table of load levels by mode; it is long, so text has it with --all only. */
#include "present/audit.h"

#include "report/columns.h"

struct mode_row {
	struct audit_modes_of of;
	const char *mode;
	struct audit_level level;
};

#define ROW(metric, member, ...) COLUMN(struct mode_row, metric, member, __VA_ARGS__)

static const struct column_spec of_load[] = {ROW(M_AUDIT_LOAD, of.load)};
static const struct column_spec of_delay[] = {
	ROW(M_DELAY_NS, of.delay_ns),
	ROW(M_SLACK_NS, of.slack_ns),
};
static const struct column_spec of_all[] = {
	ROW(M_MODE, mode),
	ROW(M_SHOWN_NS, level.shown_ns),
	ROW(M_TRUE_NS, level.true_ns),
	ROW(M_SHOWN_LEVEL_RATIO, level.shown),
	ROW(M_TRUE_LEVEL_RATIO, level.truth),
	ROW(M_ERROR_RATIO, level.error),
};

void audit_modes_columns(struct table *table, bool by_load)
{
	if (!table)
		return;
	table->text_hidden = true;
	if (by_load)
		columns_add(table, COLUMNS(of_load));
	else
		columns_add(table, COLUMNS(of_delay));
	columns_add(table, COLUMNS(of_all));
}

void audit_modes_rows(struct table *table, const struct audit_modes_of *of,
		      const struct audit_level levels[AUDIT_NR_MODES])
{
	for (int mode = 0; mode < AUDIT_NR_MODES; mode++) {
		const struct mode_row from = {*of, audit_mode_name(mode), levels[mode]};
		size_t row = table ? table_row(table) : SIZE_MAX, first;

		if (row == SIZE_MAX)
			return;
		first = table->nr_cols - sizeof(of_all) / sizeof(of_all[0]);
		if (of->load)
			columns_fill(table, row, 0, COLUMNS(of_load), &from);
		else
			columns_fill(table, row, 0, COLUMNS(of_delay), &from);
		columns_fill(table, row, first, COLUMNS(of_all), &from);
	}
}
