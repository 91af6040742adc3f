/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lays out tables for a terminal: aligned, and folded into blocks of columns if it is narrow. */
#include "view/text/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/text/bar.h"
#include "view/text/put.h"
#include "view/utf8.h"

#define GAP	      2
#define NAME_MIN      16 /* least width of a name, on any terminal */
#define SENTENCE_ROOM 30 /* least width of prose; with less it gets a block of its own */

/* A sentence about the row is wrapped, not cut. */
static size_t find_metric(const struct table *table, enum metric_id id)
{
	for (size_t i = 0; i < table->nr_cols; i++)
		if (table->cols[i].metric == metric_get(id) && !table->cols[i].data_only)
			return i;
	return GRID_NONE;
}

/* Leave out a column that is empty in every row, such as flags if there are none. */
static bool is_blank(const struct table *table, size_t col)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct value *value = table_cell(table, row, col);

		if (value->kind != VALUE_STR || *value->str)
			return false;
	}
	return true;
}

static bool is_shown(const struct grid *grid, size_t col)
{
	const struct column *column = &grid->table->cols[col];

	return !column->data_only && column->metric->unit != UNIT_TABLE &&
	       !is_blank(grid->table, col);
}

static char *cell_text(const struct value *value, enum unit unit, size_t max)
{
	char number[64];

	if (value->kind == VALUE_STR)
		return utf8_printable(value->str, max);
	view_format_value(value, unit, number, sizeof(number));
	return strdup(number);
}

static int grid_cells(struct grid *grid, const struct view *view)
{
	const struct table *table = grid->table;
	size_t name_max = view->width > 0 ? view->width / 3 : 0;

	if (name_max && name_max < NAME_MIN)
		name_max = NAME_MIN;
	for (size_t i = 0; i < table->nr_rows * table->nr_cols; i++) {
		size_t col = i % table->nr_cols;
		bool prose = col == grid->sentence || col == grid->fix;

		if (!is_shown(grid, col))
			continue;
		if (prose && table->cells[i].kind != VALUE_STR)
			continue;
		grid->cells[i] = cell_text(&table->cells[i], table->cols[col].metric->unit,
					   prose ? 0 : name_max);
		if (!grid->cells[i])
			return -ENOMEM;
	}
	return 0;
}

/* A minimum width, so that figures of the next report fit under the same heading. */
static size_t min_width(enum unit unit)
{
	switch (unit) {
	case UNIT_RATIO:
		return strlen("100.0%");
	case UNIT_NS:
		return strlen("1.23 ms");
	default:
		return 1;
	}
}

static size_t col_width(const struct grid *grid, size_t col)
{
	const struct table *table = grid->table;
	size_t width = utf8_width(table->cols[col].title),
	       min = min_width(table->cols[col].metric->unit);

	if (width < min)
		width = min;
	for (size_t row = 0; row < table->nr_rows; row++) {
		const char *cell = grid->cells[row * table->nr_cols + col];
		size_t needs = cell ? utf8_width(cell) : 0;

		if (needs > width)
			width = needs;
	}
	return width;
}

static void grid_add(struct grid *grid, size_t col)
{
	struct grid_item *item = &grid->items[grid->nr_items++];
	enum unit unit = UNIT_TEXT;

	item->col = col;
	item->width = TEXT_BAR_MIN;
	if (col != GRID_BAR) {
		unit = grid->table->cols[col].metric->unit;
		item->width = col_width(grid, col);
	}
	item->left = unit == UNIT_TEXT || unit == UNIT_BOOL;
}

static void grid_items(struct grid *grid, const struct view *view)
{
	const struct table *table = grid->table;
	bool keys = true;

	for (size_t col = 0; col < table->nr_cols; col++) {
		enum unit unit = table->cols[col].metric->unit;

		if (!is_shown(grid, col) || col == grid->sentence || col == grid->fix)
			continue;
		keys = keys && (unit == UNIT_ID || unit == UNIT_TEXT);
		grid->nr_keys += keys;
		grid_add(grid, col);
	}
	if (grid->sentence != GRID_NONE)
		grid_add(grid, grid->sentence);
	else if (view->bars && table->bar_first < table->bar_end &&
		 table->bar_end <= table->nr_cols)
		grid_add(grid, GRID_BAR);
}

/* Fills each block up to the width of the terminal; the bar gets the rest of its block. */
static void grid_fold(struct grid *grid, const struct view *view)
{
	size_t width = view->width > 0 ? (size_t)view->width : SIZE_MAX / 2;
	size_t keys = 0, at, block = 0;

	for (size_t i = 0; i < grid->nr_keys; i++)
		keys += grid->items[i].width + GAP;
	at = keys;
	for (size_t i = grid->nr_keys; i < grid->nr_items; i++) {
		struct grid_item *item = &grid->items[i];
		size_t needs = item->width;

		if (item->col == grid->sentence && needs > SENTENCE_ROOM)
			needs = SENTENCE_ROOM;
		if (at > keys && at + needs > width) {
			block++;
			at = keys;
		}
		item->block = block;
		if (item->col == GRID_BAR && at + TEXT_BAR_MAX <= width)
			item->width = TEXT_BAR_MAX;
		else if (item->col == GRID_BAR && at + item->width < width)
			item->width = width - at;
		at += item->width + GAP;
	}
	grid->nr_blocks = block + 1;
}

int grid_init(struct grid *grid, const struct view *view, const struct table *table)
{
	int rc = -ENOMEM;

	*grid = (struct grid){.table = table, .fix = GRID_NONE};
	grid->sentence = find_metric(table, M_DETAIL);
	if (grid->sentence == GRID_NONE)
		grid->sentence = find_metric(table, M_FIX);
	else
		grid->fix = find_metric(table, M_FIX);
	grid->items = calloc(table->nr_cols + 1, sizeof(*grid->items));
	grid->cells = calloc(table->nr_rows * table->nr_cols + 1, sizeof(*grid->cells));
	if (grid->items && grid->cells)
		rc = grid_cells(grid, view);
	if (rc) {
		grid_free(grid);
		return rc;
	}
	grid_items(grid, view);
	grid_fold(grid, view);
	return 0;
}

void grid_free(struct grid *grid)
{
	for (size_t i = 0; grid->cells && i < grid->table->nr_rows * grid->table->nr_cols; i++)
		free(grid->cells[i]);
	free(grid->cells);
	free(grid->items);
}

uint64_t grid_hash(const struct grid *grid, uint64_t hash)
{
	char width[24];

	for (size_t i = 0; i < grid->nr_items; i++) {
		snprintf(width, sizeof(width), "%zu", grid->items[i].width);
		hash = text_hash(hash, width);
		if (grid->items[i].col != GRID_BAR)
			hash = text_hash(hash, grid->table->cols[grid->items[i].col].title);
	}
	return hash;
}

static void pad(const struct view *view, size_t nr)
{
	fprintf(view->out, "%*s", (int)nr, "");
}

static const char *cell_sgr(const struct grid *grid, size_t col, const char *text)
{
	if (grid->table->cols[col].metric != metric_get(M_STATUS))
		return "";
	if (!strcmp(text, "ok") || !strcmp(text, "full"))
		return SGR_GREEN;
	return strcmp(text, "no") ? SGR_YELLOW : SGR_RED;
}

/* @blanks are pending from earlier cells and printed only before text: no line ends in blanks. */
static void print_cell(const struct grid_item *item, const struct view *view, const char *sgr,
		       const char *text, size_t *blanks)
{
	size_t width = utf8_width(text), rest = item->width > width ? item->width - width : 0;

	if (!item->left)
		*blanks += rest;
	if (width) {
		pad(view, *blanks);
		*blanks = 0;
		text_put(view, sgr, text);
	}
	*blanks += item->left ? rest : 0;
}

static bool in_block(const struct grid *grid, size_t i, size_t block)
{
	return i < grid->nr_keys || grid->items[i].block == block;
}

static void print_heading(const struct grid *grid, const struct view *view, size_t block)
{
	size_t blanks = 0;

	for (size_t i = 0; i < grid->nr_items; i++) {
		const struct grid_item *item = &grid->items[i];

		if (!in_block(grid, i, block) || item->col == GRID_BAR)
			continue;
		print_cell(item, view, SGR_BOLD, grid->table->cols[item->col].title, &blanks);
		blanks += GAP;
	}
	fputc('\n', view->out);
}

/* Ends the line; the fix is on a line of its own, so that it can be copied. */
static void print_sentence(const struct grid *grid, const struct view *view, size_t row,
			   size_t indent)
{
	char **cells = &grid->cells[row * grid->table->nr_cols];
	const char *fix = grid->fix != GRID_NONE ? cells[grid->fix] : NULL;

	text_wrap(view, cells[grid->sentence] ?: "-", indent);
	if (fix && *fix) {
		pad(view, indent);
		text_put(view, SGR_BOLD, "fix: ");
		text_wrap(view, fix, indent + strlen("fix: "));
	}
}

static void print_row(const struct grid *grid, const struct view *view, size_t block, size_t row)
{
	const struct table *table = grid->table;
	size_t at = 0, blanks = 0;

	for (size_t i = 0; i < grid->nr_items; i++) {
		const struct grid_item *item = &grid->items[i];
		const char *text;

		if (!in_block(grid, i, block))
			continue;
		if (item->col == grid->sentence) {
			pad(view, blanks);
			print_sentence(grid, view, row, at);
			return;
		}
		if (item->col == GRID_BAR) {
			pad(view, blanks);
			text_bar(view, table, row, item->width);
			break;
		}
		text = grid->cells[row * table->nr_cols + item->col];
		print_cell(item, view, cell_sgr(grid, item->col, text), text, &blanks);
		blanks += GAP;
		at += item->width + GAP;
	}
	fputc('\n', view->out);
}

void grid_print(const struct grid *grid, struct view *view, bool heading)
{
	const struct table *table = grid->table;

	if (heading && table->title && table->nr_rows) {
		text_put(view, SGR_BOLD, table->title);
		fputc('\n', view->out);
	}
	if (!table->nr_rows) {
		fprintf(view->out, "%s: none\n", table->title ?: table->key);
		return;
	}
	for (size_t block = 0; block < grid->nr_blocks; block++) {
		if (heading)
			print_heading(grid, view, block);
		for (size_t row = 0; row < table->nr_rows; row++)
			print_row(grid, view, block, row);
	}
	if (grid->nr_items && grid->items[grid->nr_items - 1].col == GRID_BAR)
		text_bar_legend(view, table);
}
