/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of passive wake latency as histograms. */
#include "collector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure/wake/wake.h"
#include "view/prom.h"

/* Bare: no load of our own at the start, and latencies as they were stamped. */
static int wake_collector_open(const struct config *config, struct meter **ret_meter,
			       struct err *err)
{
	struct wake_opts opts = {.sources = 1u << WAKE_PASSIVE, .bare = true};

	(void)config;
	return wake_open(&opts, ret_meter, err);
}

static void absorb_state(struct series *series, const struct table *states, size_t row)
{
	const struct value *cpu = collector_cell(states, row, "cpu");
	const struct value *name = collector_cell(states, row, "name");
	const struct value *count = collector_cell(states, row, "count");
	const struct value *sum = collector_cell(states, row, "sum_ns");
	const struct value *le = collector_cell(states, row, "le");
	char number[24], *labels;
	size_t at;

	if (cpu->kind != VALUE_U64 || count->kind != VALUE_U64)
		return;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)cpu->u64);
	labels =
		prom_labels("cpu", number, "state", name->kind == VALUE_STR ? name->str : "", NULL);
	at = labels ? series_row(series, labels) : SERIES_NONE;
	if (at != SERIES_NONE)
		collector_histogram(series, at, le->kind == VALUE_TABLE ? le->table : NULL,
				    count->u64, sum->kind == VALUE_U64 ? sum->u64 : 0);
	free(labels);
}

static void wake_collector_absorb(struct store *store, const struct config *config,
				  const struct meter *meter, const struct report *report)
{
	const struct table *states = collector_table(report, "states");

	(void)config;
	(void)meter;
	for (size_t i = 0; states && i < states->nr_rows; i++)
		absorb_state(&store->series[F_WAKE], states, i);
}

const struct collector_ops collector_wake = {
	.name = "wake",
	.open = wake_collector_open,
	.absorb = wake_collector_absorb,
};
