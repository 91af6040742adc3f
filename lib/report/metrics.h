/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics: key, title, unit and help text of each figure. */
#ifndef SUBTICK_REPORT_METRICS_H
#define SUBTICK_REPORT_METRICS_H

#include "base/losses.h"
#include "report/metric_list.h"

enum unit {
	UNIT_TEXT,
	UNIT_BOOL,
	UNIT_COUNT,
	UNIT_ID, /* identifier, which is never scaled or summed */
	UNIT_NS,
	UNIT_RATIO, /* ratio from 0 to 1; text output shows a percentage */
	UNIT_CYCLES,
	UNIT_HZ,
	UNIT_BYTES,
	UNIT_TABLE, /* nested table */
};

#define METRIC_ENUM(id, key, title, unit, help) id,
#define LOSS_ENUM(key, title, help)		M_##key##_total,
enum metric_id { METRICS(METRIC_ENUM) LOSSES(LOSS_ENUM) METRIC_NR };
#undef METRIC_ENUM
#undef LOSS_ENUM

struct metric {
	const char *key;
	const char *title;
	enum unit unit;
	const char *help;
};

const struct metric *metric_get(enum metric_id id);
/*
 * Finds the metric with the key @key. If several metrics have this key, prefers the metric whose
 * unit is @unit. Returns METRIC_NR if the key is unknown.
 */
enum metric_id metric_find(const char *key, enum unit unit);

#define SET_TWO_MODES_BUSY "user+system: user, nice, system"
#define SET_TWO_MODES_ALL  "user+system: all"
#define SET_WITH_IDLE_BUSY "user+idle: user, nice, system"
#define SET_WITH_IDLE_ALL  "user+idle: all"
#define SET_SOFTIRQS	   "user+softirq: irq, softirq"

#endif
