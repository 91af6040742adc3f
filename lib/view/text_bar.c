/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws stacked bars and histograms in text. */
#include "view/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/utf8.h"

#define HIST_STARS 40
#define SGR_RESET  "\033[0m"

static void put_many(const struct view *view, const char *shape, size_t nr)
{
	while (nr--)
		fputs(shape, view->out);
}

void text_bar(const struct view *view, const struct table *table, size_t row, size_t width)
{
	size_t cells = width - 2, at = 0;

	fputc('|', view->out);
	for (size_t col = table->bar_first; col < table->bar_end; col++) {
		size_t end = bar_part_end(table, row, col, cells);
		const struct bar_style *look = bar_style_of(table, col);

		if (end == at)
			continue;
		fputs(view->color ? style_sgr(look->style) : "", view->out);
		put_many(view, look->shape, end - at);
		fputs(view->color ? SGR_RESET : "", view->out);
		at = end;
	}
	put_many(view, " ", cells - at);
	fputc('|', view->out);
}

void text_bar_legend(struct view *view, const struct table *table)
{
	uint64_t hash = HASH_START;
	size_t at = 0;

	for (size_t col = table->bar_first; col < table->bar_end; col++)
		hash = text_hash(hash, table->cols[col].title);
	if (hash == view->seen.legend)
		return;
	view->seen.legend = hash;
	for (size_t col = table->bar_first; col < table->bar_end; col++) {
		const char *title = table->cols[col].title;
		size_t width = utf8_width(title) + 2;
		const struct bar_style *look = bar_style_of(table, col);

		if (at && view->width > 0 && at + 2 + width > (size_t)view->width) {
			fputc('\n', view->out);
			at = 0;
		} else if (at) {
			fputs("  ", view->out);
			at += 2;
		}
		text_put(view, look->style, look->shape);
		fprintf(view->out, " %s", title);
		at += width;
	}
	fputc('\n', view->out);
}

bool text_is_hist(const struct table *table)
{
	return table->nr_cols == 2 && table_find(table, "le_ns") == 0 &&
	       table_find(table, "count") == 1;
}

/* Count of one histogram bucket. The cells of the histogram have cumulative counts. */
static double hist_bucket(const struct table *table, size_t row)
{
	const struct value *below = row ? table_cell(table, row - 1, 1) : NULL;
	const struct value *value = table_cell(table, row, 1);

	if (value->kind != VALUE_U64 || (below && below->kind != VALUE_U64))
		return NAN;
	if (below && below->u64 > value->u64)
		return NAN;
	return value->u64 - (below ? below->u64 : 0);
}

static void hist_edge(const struct table *table, size_t row, char *buf, size_t size)
{
	const struct value *value = table_cell(table, row, 0);

	if (value->kind == VALUE_NULL)
		snprintf(buf, size, "more");
	else
		view_format_value(value, UNIT_NS, buf, size);
}

void text_hist(const struct view *view, const struct table *table)
{
	size_t first = table->nr_rows, end = 0;
	double most = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		double count = hist_bucket(table, i);

		if (count == 0)
			continue;
		most = fmax(most, count);
		if (first > i)
			first = i;
		end = i + 1;
	}
	if (!end)
		fputs("no events\n", view->out);
	for (size_t i = first; i < end; i++) {
		double count = hist_bucket(table, i);
		char low[32] = "0 ns", high[32], nr[32] = "-";
		size_t stars = 0;

		if (i)
			hist_edge(table, i - 1, low, sizeof(low));
		hist_edge(table, i, high, sizeof(high));
		if (!isnan(count)) {
			snprintf(nr, sizeof(nr), "%.0f", count);
			stars = ceil(count / most * HIST_STARS);
		}
		fprintf(view->out, "%9s -> %-9s : %-10s |", low, high, nr);
		put_many(view, "*", stars);
		put_many(view, " ", HIST_STARS - stars);
		fputs("|\n", view->out);
	}
}

void text_put(const struct view *view, enum style style, const char *text)
{
	bool paint = view->color && style != STYLE_PLAIN;

	fprintf(view->out, "%s%s%s", paint ? style_sgr(style) : "", text, paint ? SGR_RESET : "");
}

uint64_t text_hash(uint64_t hash, const char *text)
{
	/* The NUL is hashed, too, so that "a","bc" and "ab","c" have different hashes. */
	return hash_bytes(hash, text, strlen(text) + 1);
}

void text_wrap(const struct view *view, const char *text, size_t indent)
{
	/* If at most 20 columns remain for the text, the terminal wraps the lines. */
	size_t room = view->width > (int)indent + 20 ? view->width - indent : 0;
	size_t at = 0;

	while (*text) {
		size_t len = strcspn(text, " ");
		size_t width = utf8_width_of(text, len);

		if (at && room && at + 1 + width > room) {
			fprintf(view->out, "\n%*s", (int)indent, "");
			at = 0;
		} else if (at) {
			fputc(' ', view->out);
			at++;
		}
		fwrite(text, 1, len, view->out);
		at += width;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', view->out);
}

bool text_is_loss(const struct column *col, const struct value *value)
{
	return col->metric->unit == UNIT_COUNT && value->kind == VALUE_U64;
}

bool text_is_zero(const struct value *value)
{
	return (value->kind == VALUE_U64 && !value->u64) ||
	       (value->kind == VALUE_F64 && value->f64 == 0) ||
	       (value->kind == VALUE_BOOL && !value->flag);
}

uint64_t text_lost_now(struct losses_seen *seen, const struct column *col,
		       const struct value *value)
{
	uint64_t total = value->u64, key = text_hash(HASH_START, col->key), before;

	array_for_each(entry, seen->of, ARRAY_SIZE(seen->of)) {
		if (entry->key && entry->key != key)
			continue;
		before = entry->total;
		entry->key = key;
		entry->total = total;
		return total - (total < before ? 0 : before);
	}
	return total;
}
