/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stores the last report of each measurement, and a pane for each table of the report. */
#include "view/screen/screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/cells.h"
#include "view/text.h"

void screen_init(struct screen *screen, uint64_t interval_ns)
{
	*screen = (struct screen){.interval_ns = interval_ns};
}

static void pane_free(struct screen_pane *pane)
{
	free(pane->key);
	free(pane->sort);
}

void screen_free(struct screen *screen)
{
	for (size_t i = 0; i < screen->nr_slots; i++) {
		free(screen->slots[i].command);
		free(screen->slots[i].refused);
		free(screen->slots[i].fix);
		report_free(screen->slots[i].report);
	}
	for (size_t i = 0; i < screen->nr_panes; i++)
		pane_free(&screen->panes[i]);
	pane_free(&screen->notes);
	screen_history_free(&screen->history);
	*screen = (struct screen){0};
}

int screen_add(struct screen *screen, const char *command)
{
	char *copy = screen->nr_slots < SCREEN_MAX_SLOTS ? strdup(command) : NULL;

	if (!copy)
		return -1;
	screen->slots[screen->nr_slots] = (struct screen_slot){.command = copy};
	return screen->nr_slots++;
}

static struct screen_pane *pane_find(struct screen *screen, size_t slot, const char *key)
{
	for (size_t i = 0; i < screen->nr_panes; i++)
		if (screen->panes[i].slot == slot && !strcmp(screen->panes[i].key, key))
			return &screen->panes[i];
	return NULL;
}

/*
 * Inserts a pane in the order of the measurements (slots), so that the Tab key selects panes in a
 * fixed order.
 */
static int pane_add(struct screen *screen, size_t slot, const char *key)
{
	size_t at = screen->nr_panes;
	char *copy;

	if (screen->nr_panes == SCREEN_MAX_PANES)
		return 0;
	copy = strdup(key);
	if (!copy)
		return -ENOMEM;
	while (at && screen->panes[at - 1].slot > slot)
		at--;
	memmove(&screen->panes[at + 1], &screen->panes[at],
		(screen->nr_panes - at) * sizeof(screen->panes[0]));
	screen->panes[at] = (struct screen_pane){.slot = slot, .key = copy};
	/*
	 * Keep the same pane active after a pane was inserted. Until the user selects a pane, the
	 * first pane of slot @home is active.
	 */
	if (screen->active >= at && screen->nr_panes)
		screen->active++;
	if (!screen->chosen && slot == screen->home && (!at || screen->panes[at - 1].slot != slot))
		screen->active = at;
	screen->nr_panes++;
	return 0;
}

/*
 * True if at least one cell of the table is a number. A table that has only names and missing
 * values gets no pane.
 */
static bool has_figures(const struct table *table)
{
	for (size_t i = 0; i < table->nr_rows * table->nr_cols; i++)
		if (!cells_name(table, i % table->nr_cols) && table->cells[i].kind != VALUE_NULL)
			return true;
	return !table->nr_rows;
}

/*
 * Converts loss counters, which count from the start of the measurement, to losses in the last
 * window.
 */
static void losses_of_window(struct screen_slot *slot, struct table *quality)
{
	for (size_t i = 0; i < quality->nr_cols; i++) {
		struct value *value = table_cell(quality, 0, i);

		if (text_is_loss(&quality->cols[i], value))
			value_u64(value, text_lost_now(&slot->losses, &quality->cols[i], value));
	}
}

/* Shrinks a pane that has had fewer rows for SCREEN_KEEP_ROWS windows. */
static void panes_shrink(struct screen *screen, size_t slot)
{
	for (size_t i = 0; i < screen->nr_panes; i++) {
		struct screen_pane *pane = &screen->panes[i];
		const struct table *table = screen_table(screen, pane);

		if (pane->slot != slot)
			continue;
		if (table && table->nr_rows >= pane->rows_had)
			pane->fewer = 0;
		else if (++pane->fewer == SCREEN_KEEP_ROWS)
			pane->rows_had = pane->fewer = 0;
	}
}

int screen_show(struct screen *screen, size_t slot, struct report *report)
{
	struct screen_slot *to = &screen->slots[slot];
	const struct report *shown = NULL;
	const struct table *cores;
	int rc = report_check(report);

	for (size_t i = 0; !rc && i < report->nr_tables; i++)
		if (!report->tables[i]->text_hidden && !report->tables[i]->sentences &&
		    !report->tables[i]->sum && has_figures(report->tables[i]) &&
		    !pane_find(screen, slot, report->tables[i]->key))
			rc = pane_add(screen, slot, report->tables[i]->key);
	if (rc) {
		report_free(report);
		return rc;
	}
	report_free(to->report);
	to->report = report;
	losses_of_window(to, report->quality);
	panes_shrink(screen, slot);
	cores = screen_cores(screen, &shown);
	return cores && shown == report ? screen_history_add(&screen->history, cores) : 0;
}

int screen_refuse(struct screen *screen, size_t slot, const struct err *err)
{
	struct screen_slot *to = &screen->slots[slot];
	char *refused = strdup(err->what), *fix = strdup(err->fix);

	if (!refused || !fix) {
		free(refused);
		free(fix);
		return -ENOMEM;
	}
	free(to->refused);
	free(to->fix);
	to->refused = refused;
	to->fix = fix;
	report_free(to->report);
	to->report = NULL;
	return 0;
}

struct screen_pane *screen_active(struct screen *screen)
{
	return screen->active < screen->nr_panes ? &screen->panes[screen->active] : &screen->notes;
}

const struct table *screen_table(const struct screen *screen, const struct screen_pane *pane)
{
	return pane->key ? report_find(screen->slots[pane->slot].report, pane->key) : NULL;
}

const struct table *screen_cores(const struct screen *screen, const struct report **ret_report)
{
	for (size_t i = 0; i < screen->nr_slots; i++) {
		const struct report *report = screen->slots[i].report;

		for (size_t j = 0; report && j < report->nr_tables; j++) {
			const struct table *table = report->tables[j];

			if (table->bar_first >= table->bar_end || table->bar_end > table->nr_cols)
				continue;
			*ret_report = report;
			return table;
		}
	}
	return NULL;
}
