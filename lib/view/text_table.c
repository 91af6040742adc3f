/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lays out tables for a terminal, folded into blocks of columns if they are too wide. */
#include "view/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/utf8.h"

#define PARTS_SHOWN   3
/* minimum width of a sentence; if fewer columns are left, the sentence gets its own block */
#define SENTENCE_ROOM 30

/* Returns the first column of metric @id that is shown in text, or GRID_NONE. */
static size_t find_metric(const struct table *table, enum metric_id id)
{
	for (size_t i = 0; i < table->nr_cols; i++)
		if (table->cols[i].metric == metric_get(id) && !table->cols[i].data_only)
			return i;
	return GRID_NONE;
}

static bool is_shown(const struct grid *grid, size_t col)
{
	const struct column *column = &grid->table->cols[col];

	if (grid->parts != GRID_NONE && col >= grid->parts && col < grid->table->parts_end)
		return col == grid->parts && grid->table->nr_rows;
	return !column->data_only && column->metric->unit != UNIT_TABLE && grid->table->nr_rows &&
	       !cells_blank(grid->table, col);
}

/* Formats the largest parts of a sum, such as "quota 57%, same 34%". */
static char *parts_text(const struct table *table, size_t row)
{
	size_t order[PARTS_SHOWN] = {0}, nr = 0;
	double sum = 0.0;
	char text[128] = "-";

	for (size_t col = table->parts_first; col < table->parts_end; col++) {
		const struct value *value = table_cell(table, row, col);
		size_t at = nr;

		if (value->kind != VALUE_U64 || !value->u64)
			continue;
		sum += (double)value->u64;
		while (at && table_cell(table, row, order[at - 1])->u64 < value->u64)
			at--;
		if (at == PARTS_SHOWN)
			continue;
		nr += nr < PARTS_SHOWN;
		memmove(&order[at + 1], &order[at], (nr - at - 1) * sizeof(order[0]));
		order[at] = col;
	}
	for (size_t i = 0, len = 0; i < nr && len < sizeof(text); i++) {
		double share = (double)table_cell(table, row, order[i])->u64 / sum;

		/* Skip parts that round to 0 %. */
		if (i && share < 0.005)
			break;
		len += snprintf(text + len, sizeof(text) - len, "%s%s %.0f%%", i ? ", " : "",
				table->cols[order[i]].title, share * 100.0);
	}
	return strdup(text);
}

static int grid_cells(struct grid *grid, const struct view *view)
{
	const struct table *table = grid->table;
	size_t width = view->width > 0 ? view->width : 0;
	/* With --wide, names in a pipe or file are not cut. */
	size_t name_max = width || !view->wide ? cells_name_max(width) : 0;

	for (size_t i = 0; i < table->nr_rows * table->nr_cols; i++) {
		size_t col = i % table->nr_cols;
		bool prose = col == grid->sentence || col == grid->fix;

		if (!is_shown(grid, col))
			continue;
		if (prose && table->cells[i].kind != VALUE_STR)
			continue;
		grid->cells[i] =
			col == grid->parts
				? parts_text(table, i / table->nr_cols)
				: cells_text(table, i / table->nr_cols, col, prose ? 0 : name_max);
		if (!grid->cells[i])
			return -ENOMEM;
	}
	return 0;
}

static size_t col_width(const struct grid *grid, size_t col)
{
	const struct table *table = grid->table;
	size_t width = cells_min_width(table, col);

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

	item->col = col;
	item->width = col == GRID_BAR ? TEXT_BAR_MIN : col_width(grid, col);
	item->left = col == GRID_BAR || col == grid->parts || cells_left(grid->table, col);
}

static void grid_items(struct grid *grid, const struct view *view)
{
	const struct table *table = grid->table;
	bool keys = true;

	for (size_t col = 0; col < table->nr_cols; col++) {
		if (!is_shown(grid, col) || col == grid->sentence || col == grid->fix)
			continue;
		keys = keys && cells_name(table, col);
		grid->nr_keys += keys;
		grid_add(grid, col);
	}
	if (grid->sentence != GRID_NONE)
		grid_add(grid, grid->sentence);
	else if (view->bars && table->bar_first < table->bar_end)
		grid_add(grid, GRID_BAR);
}

/* Assigns columns to blocks that fit the terminal. A bar takes the remaining width of its block. */
static void grid_fold(struct grid *grid, const struct view *view)
{
	size_t width = view->width > 0 ? (size_t)view->width : SIZE_MAX / 2;
	size_t keys = 0, at, block = 0;

	array_for_each(item, grid->items, grid->nr_keys)
		keys += item->width + CELLS_GAP;
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
		at += item->width + CELLS_GAP;
	}
	grid->nr_blocks = block + 1;
}

int grid_init(struct grid *grid, const struct view *view, const struct table *table)
{
	int rc = -ENOMEM;

	*grid = (struct grid){.table = table, .fix = GRID_NONE, .parts = GRID_NONE};
	if (!view->wide && table->parts_first < table->parts_end)
		grid->parts = table->parts_first;
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
	array_for_each(item, grid->items, grid->nr_items)
		hash = text_hash(hash,
				 item->col == GRID_BAR ? "|" : grid->table->cols[item->col].title);
	return hash;
}

bool grid_keep_widths(struct grid *grid, struct view *view)
{
	bool kept = grid->nr_items <= VIEW_MAX_WIDTHS, fits;
	size_t nr = kept ? grid->nr_items : VIEW_MAX_WIDTHS, total = 0;
	unsigned short *widths = view->seen.widths;

	for (size_t i = 0; i < nr; i++) {
		size_t width = grid->items[i].width;

		kept = kept && width <= widths[i];
		total += (width > widths[i] ? width : widths[i]) + CELLS_GAP;
	}
	fits = view->width <= 0 || total <= (size_t)view->width;
	for (size_t i = 0; i < nr; i++) {
		/* Columns shrink only on a narrow terminal, so that the heading is rarely repeated. */
		if (fits && grid->items[i].width < widths[i] && grid->items[i].col != GRID_BAR)
			grid->items[i].width = widths[i];
		widths[i] = grid->items[i].width;
	}
	return kept && fits;
}

static void pad(const struct view *view, size_t nr)
{
	fprintf(view->out, "%*s", (int)nr, "");
}

static enum style cell_style(const struct grid *grid, size_t col, const char *text)
{
	if (grid->table->cols[col].metric != metric_get(M_STATUS))
		return STYLE_PLAIN;
	if (!strcmp(text, "ok") || !strcmp(text, "full"))
		return STYLE_GREEN;
	return strcmp(text, "no") ? STYLE_YELLOW : STYLE_RED;
}

/*
 * Prints a cell. @blanks is the number of pending blanks, which are printed only before text, so
 * that no line ends in blanks.
 */
static void print_cell(const struct grid_item *item, const struct view *view, enum style style,
		       const char *text, size_t *blanks)
{
	size_t width = utf8_width(text), rest = item->width > width ? item->width - width : 0;

	if (!item->left)
		*blanks += rest;
	if (width) {
		pad(view, *blanks);
		*blanks = 0;
		text_put(view, style, text);
	}
	*blanks += item->left ? rest : 0;
}

static bool in_block(const struct grid *grid, const struct grid_item *item, size_t block)
{
	return item < grid->items + grid->nr_keys || item->block == block;
}

static void print_heading(const struct grid *grid, const struct view *view, size_t block)
{
	size_t blanks = 0;

	array_for_each(item, grid->items, grid->nr_items) {
		if (!in_block(grid, item, block) || item->col == GRID_BAR)
			continue;
		print_cell(item, view, STYLE_BOLD,
			   item->col == grid->parts ? "mostly"
						    : grid->table->cols[item->col].title,
			   &blanks);
		blanks += CELLS_GAP;
	}
	fputc('\n', view->out);
}

/* Prints the last column as a sentence. The fix has its own line, so that users can copy it. */
static void print_sentence(const struct grid *grid, const struct view *view, size_t row,
			   size_t indent)
{
	char **cells = &grid->cells[row * grid->table->nr_cols];
	const char *fix = grid->fix != GRID_NONE ? cells[grid->fix] : NULL;

	text_wrap(view, cells[grid->sentence] ?: "-", indent);
	if (fix && *fix) {
		pad(view, indent);
		text_put(view, STYLE_BOLD, "fix: ");
		text_wrap(view, fix, indent + strlen("fix: "));
	}
}

static void print_row(const struct grid *grid, const struct view *view, size_t block, size_t row)
{
	const struct table *table = grid->table;
	size_t at = 0, blanks = 0;

	array_for_each(item, grid->items, grid->nr_items) {
		const char *text;

		if (!in_block(grid, item, block))
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
		print_cell(item, view, cell_style(grid, item->col, text), text, &blanks);
		blanks += CELLS_GAP;
		at += item->width + CELLS_GAP;
	}
	fputc('\n', view->out);
}

void grid_print(const struct grid *grid, struct view *view, bool heading)
{
	const struct table *table = grid->table;

	if (heading && table->title && table->nr_rows) {
		text_put(view, STYLE_BOLD, table->title);
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
