/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table behind metrics.h. */
#include "report/metrics.h"

#include <stddef.h>
#include <string.h>

#define METRIC_ROW(id, key, title, unit, help) [id] = {key, title, unit, help},
#define LOSS_ROW(key, title, help) [M_##key##_total] = {#key "_total", title, UNIT_COUNT, help},
static const struct metric metrics[METRIC_NR] = {METRICS(METRIC_ROW) LOSSES(LOSS_ROW)};

const struct metric *metric_get(enum metric_id id)
{
	return (unsigned int)id < METRIC_NR ? &metrics[id] : NULL;
}

enum metric_id metric_find(const char *key, enum unit unit)
{
	enum metric_id found = METRIC_NR;

	for (unsigned int id = 0; id < METRIC_NR; id++) {
		if (strcmp(metrics[id].key, key))
			continue;
		if (metrics[id].unit == unit)
			return id;
		if (found == METRIC_NR)
			found = id;
	}
	return found;
}
