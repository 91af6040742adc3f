/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The busy share of each core in earlier windows: kept by CPU number, drawn after the bar. */
#include "view/screen/draw.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CPU 65536

void screen_history_free(struct screen_history *history)
{
	free(history->busy);
	*history = (struct screen_history){0};
}

static int history_grow(struct screen_history *history, size_t nr)
{
	float *busy = reallocarray(history->busy, nr, SCREEN_HISTORY * sizeof(*busy));

	if (!busy)
		return -ENOMEM;
	for (size_t i = history->nr_cpus * SCREEN_HISTORY; i < nr * SCREEN_HISTORY; i++)
		busy[i] = NAN;
	history->busy = busy;
	history->nr_cpus = nr;
	return 0;
}

static int cpu_of(const struct table *cores, size_t row)
{
	const struct value *value = table_cell(cores, row, 0);

	return value->kind == VALUE_U64 && value->u64 < MAX_CPU ? (int)value->u64 : -1;
}

int screen_history_add(struct screen_history *history, const struct table *cores)
{
	int col = table_find(cores, metric_get(M_BUSY_RATIO)->key), rc = 0;

	/* A core without a figure in this window gets a gap. */
	for (size_t cpu = 0; cpu < history->nr_cpus; cpu++) {
		float *busy = &history->busy[cpu * SCREEN_HISTORY];

		memmove(busy, busy + 1, (SCREEN_HISTORY - 1) * sizeof(*busy));
		busy[SCREEN_HISTORY - 1] = NAN;
	}
	for (size_t row = 0; col >= 0 && row < cores->nr_rows && !rc; row++) {
		const struct value *value = table_cell(cores, row, col);
		int cpu = cpu_of(cores, row);

		if (cpu < 0 || value->kind != VALUE_F64)
			continue;
		if ((size_t)cpu >= history->nr_cpus)
			rc = history_grow(history, cpu + 1);
		if (!rc)
			history->busy[cpu * SCREEN_HISTORY + SCREEN_HISTORY - 1] = value->f64;
	}
	return rc;
}

void screen_history_draw(const struct screen *screen, const struct table *cores, size_t row, int y,
			 int x, int width, struct canvas *canvas)
{
	static const char *const eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const tenths[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
	const struct screen_history *history = &screen->history;
	int cpu = cpu_of(cores, row), nr = screen->ascii ? 10 : 8;

	for (int i = 0; i < width; i++) {
		float busy = cpu >= 0 && (size_t)cpu < history->nr_cpus
				     ? history->busy[(cpu + 1) * SCREEN_HISTORY - width + i]
				     : NAN;
		int level = busy >= 1 ? nr - 1 : busy > 0 ? (int)(busy * nr) : 0;

		canvas_put(canvas, y, x + i, canvas->cols, STYLE_DIM,
			   isnan(busy)	   ? "-"
			   : screen->ascii ? tenths[level]
					   : eighths[level]);
	}
}
