/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stores the last report of each measurement, and a pane for each table of the report. */
#include "view/screen/screen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "view/cells.h"
#include "view/text.h"

void screen_free(struct screen *screen)
{
	array_for_each(slot, screen->slots, screen->nr_slots)
		report_free(slot->report);
	screen_history_free(&screen->history);
	*screen = (struct screen){0};
}

size_t screen_add(struct screen *screen, const char *command)
{
	screen->slots[screen->nr_slots].command = command;
	return screen->nr_slots++;
}

static bool has_pane(const struct screen *screen, size_t slot, const char *key)
{
	array_for_each(pane, screen->panes, screen->nr_panes)
		if (pane->slot == slot && !strcmp(pane->key, key))
			return true;
	return false;
}

/* Inserts a pane in the order of the slots, so that Tab selects panes in a fixed order. */
static void pane_add(struct screen *screen, size_t slot, const char *key)
{
	size_t at = screen->nr_panes;

	if (screen->nr_panes == SCREEN_MAX_PANES)
		return;
	while (at && screen->panes[at - 1].slot > slot)
		at--;
	memmove(&screen->panes[at + 1], &screen->panes[at],
		(screen->nr_panes - at) * sizeof(screen->panes[0]));
	screen->panes[at] = (struct screen_pane){.slot = slot};
	snprintf(screen->panes[at].key, sizeof(screen->panes[at].key), "%s", key);
	/* Until the user selects a pane, the first pane of slot @home is active. */
	if (screen->active >= at && screen->nr_panes)
		screen->active++;
	if (!screen->chosen && slot == screen->home && (!at || screen->panes[at - 1].slot != slot))
		screen->active = at;
	screen->nr_panes++;
}

/* A table that has only names and missing values gets no pane. */
static bool has_figures(const struct table *table)
{
	for (size_t i = 0; i < table->nr_rows * table->nr_cols; i++)
		if (!cells_name(table, i % table->nr_cols) && table->cells[i].kind != VALUE_NULL)
			return true;
	return !table->nr_rows;
}

/* Converts loss counters since the start of the measurement to losses in the last window. */
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
	array_for_each(pane, screen->panes, screen->nr_panes) {
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

	if (report_check(report)) {
		report_free(report);
		return -ENOMEM;
	}
	for (size_t i = 0; i < report->nr_tables; i++) {
		const struct table *table = report->tables[i];

		if (!table->text_hidden && !table->sentences && !table->sum && has_figures(table) &&
		    !has_pane(screen, slot, table->key))
			pane_add(screen, slot, table->key);
	}
	report_free(to->report);
	to->report = report;
	losses_of_window(to, report->quality);
	panes_shrink(screen, slot);
	cores = screen_cores(screen, &shown);
	return cores && shown == report ? screen_history_add(&screen->history, cores) : 0;
}

void screen_refuse(struct screen *screen, size_t slot, const struct err *err)
{
	struct screen_slot *to = &screen->slots[slot];

	to->refused = *err;
	report_free(to->report);
	to->report = NULL;
}

struct screen_pane *screen_active(struct screen *screen)
{
	return screen->active < screen->nr_panes ? &screen->panes[screen->active] : &screen->notes;
}

const struct table *screen_table(const struct screen *screen, const struct screen_pane *pane)
{
	return pane->key[0] ? report_find(screen->slots[pane->slot].report, pane->key) : NULL;
}

const struct table *screen_cores(const struct screen *screen, const struct report **ret_report)
{
	for (size_t i = 0; i < screen->nr_slots; i++) {
		const struct report *report = screen->slots[i].report;

		for (size_t j = 0; report && j < report->nr_tables; j++) {
			const struct table *table = report->tables[j];

			if (table->bar_first == table->bar_end)
				continue;
			*ret_report = report;
			return table;
		}
	}
	return NULL;
}
