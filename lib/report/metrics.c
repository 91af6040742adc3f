/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table behind metrics.h. */
#include "report/metrics.h"

#include <stddef.h>

#define METRIC_ROW(id, key, title, unit, help) [id] = {key, title, unit, help},
static const struct metric metrics[METRIC_NR] = {METRICS(METRIC_ROW)};

const struct metric *metric_get(enum metric_id id)
{
	return (unsigned int)id < METRIC_NR ? &metrics[id] : NULL;
}
