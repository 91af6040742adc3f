/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of all metrics and metric families. */
#include "report/metrics.h"

#include <stddef.h>
#include <string.h>

#include "report/family.h"

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

#define FAMILY_ROW(id, name, type, unit, help) [id] = {name, type, unit, help},
static const struct family families[FAMILY_NR] = {FAMILIES(FAMILY_ROW)};

const struct family *family_get(enum family_id id)
{
	return (unsigned int)id < FAMILY_NR ? &families[id] : NULL;
}

const char *family_suffix(const struct family *family)
{
	return family->type == FAMILY_COUNTER ? "_total"
	       : family->type == FAMILY_INFO  ? "_info"
					      : "";
}
