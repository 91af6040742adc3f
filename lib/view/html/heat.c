/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Heat map of the blame table: victims and culprits; the colour is the time waited. */
#include "view/html/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEAT 12

struct heat {
	const char *name[MAX_HEAT];
	double sum[MAX_HEAT];
	size_t nr, left_out;
};

struct named {
	const char *name;
	double sum;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static int by_sum(const void *a, const void *b)
{
	double x = ((const struct named *)a)->sum, y = ((const struct named *)b)->sum;

	return x == y ? by_name(a, b) : x < y ? 1 : -1;
}

/* The names of one column with the largest sums. */
static int heat_names(struct heat *heat, const struct table *blame, const char *key)
{
	struct named *all = calloc(blame->nr_rows + 1, sizeof(*all));
	size_t nr = 0;

	if (!all)
		return -ENOMEM;
	for (size_t row = 0; row < blame->nr_rows; row++)
		all[row] = (struct named){table_str(blame, row, key) ?: "",
					  fmax(0.0, table_number(blame, row, "wait_ns"))};
	qsort(all, blame->nr_rows, sizeof(*all), by_name);
	for (size_t row = 0; row < blame->nr_rows; row++) {
		if (nr && !strcmp(all[nr - 1].name, all[row].name))
			all[nr - 1].sum += all[row].sum;
		else
			all[nr++] = all[row];
	}
	qsort(all, nr, sizeof(*all), by_sum);
	heat->nr = nr < MAX_HEAT ? nr : MAX_HEAT;
	heat->left_out = nr - heat->nr;
	for (size_t i = 0; i < heat->nr; i++)
		heat->name[i] = all[i].name;
	free(all);
	return 0;
}

static double heat_sum(const struct table *blame, const char *victim, const char *culprit)
{
	double sum = 0.0;

	for (size_t row = 0; row < blame->nr_rows; row++)
		if (!strcmp(table_str(blame, row, "victim") ?: "", victim) &&
		    !strcmp(table_str(blame, row, "culprit") ?: "", culprit))
			sum += fmax(0.0, table_number(blame, row, "wait_ns"));
	return sum;
}

static void heat_head(FILE *out, const char *scope, const char *name)
{
	fprintf(out, "<th scope=\"%s\" title=\"", scope);
	html_text(out, *name ? name : "(empty)");
	fputs("\">", out);
	html_text(out, *name ? name : "(empty)");
	fputs("</th>", out);
}

static void heat_rows(FILE *out, const struct table *blame, const struct heat *victims,
		      const struct heat *culprits)
{
	double cell[MAX_HEAT][MAX_HEAT], most = 0.0;
	char text[32];

	for (size_t v = 0; v < victims->nr; v++)
		for (size_t c = 0; c < culprits->nr; c++) {
			cell[v][c] = heat_sum(blame, victims->name[v], culprits->name[c]);
			most = fmax(most, cell[v][c]);
		}
	for (size_t v = 0; v < victims->nr; v++) {
		fputs("<tr>", out);
		heat_head(out, "row", victims->name[v]);
		for (size_t c = 0; c < culprits->nr; c++) {
			/* The square root makes small waits visible beside large ones. */
			double heat = most > 0.0 ? sqrt(cell[v][c] / most) : 0.0;

			html_ns(cell[v][c], text, sizeof(text));
			fprintf(out,
				"<td class=\"n\" style=\"background:rgba(213,94,0,%.2f)\">%s</td>",
				heat * 0.7, cell[v][c] > 0.0 ? text : "");
		}
		fputs("</tr>\n", out);
	}
}

void html_heat(FILE *out, const struct table *blame)
{
	struct heat victims, culprits;

	if (!blame->nr_rows || heat_names(&victims, blame, "victim") ||
	    heat_names(&culprits, blame, "culprit"))
		return;
	fputs("<div class=\"scroll\"><table class=\"heat\"><caption>Who waited (rows) behind whom "
	      "(columns)"
	      "</caption><thead><tr><td></td>",
	      out);
	for (size_t c = 0; c < culprits.nr; c++)
		heat_head(out, "col", culprits.name[c]);
	fputs("</tr></thead><tbody>\n", out);
	heat_rows(out, blame, &victims, &culprits);
	fputs("</tbody></table></div>\n", out);
	if (victims.left_out || culprits.left_out) {
		fputs("<p class=\"muted\">", out);
		html_textf(
			out,
			"Not shown: %zu victims and %zu culprits with shorter waits; the table has "
			"them.",
			victims.left_out, culprits.left_out);
		fputs("</p>\n", out);
	}
}
