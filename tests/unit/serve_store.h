/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Provides the counters of an exporter with default settings, reset for each test. */
#ifndef SUBTICK_TESTS_UNIT_SERVE_STORE_H
#define SUBTICK_TESTS_UNIT_SERVE_STORE_H

#include "serve/config.h"
#include "serve/export/store.h"
#include "test.h"

static struct config config;
static struct store store;

static int setup(void **state)
{
	if (config_init(&config))
		return -1;
	store_init(&store, &config);
	return 0;
}

static int teardown(void **state)
{
	store_free(&store);
	config_free(&config);
	return 0;
}

static inline const struct series_row *row_of(enum family_id id, const char *labels,
					      unsigned int *ret_part)
{
	const struct series *series = &store.series[id];
	const struct series_table *table = &store.tables[series->table];

	for (size_t i = 0; i < table->nr; i++)
		for (unsigned int part = 0; part < series_parts(series); part++) {
			const struct labels *of = table->rows[i]->labels;
			char text[512], *to = text;

			if (!series_shows(series, table->rows[i], part))
				continue;
			to += snprintf(to, sizeof(text), "%s", of ? of->data : "");
			if (series->nr_parts) {
				to += sprintf(to, "%s%s=\"", of ? "," : "", series->part_name);
				strcpy(labels_escape(to, series->parts[part]), "\"");
			}
			*ret_part = part;
			if (!strcmp(text, labels))
				return table->rows[i];
		}
	return NULL;
}

static inline const union word *find(enum family_id id, const char *labels)
{
	unsigned int part;
	const struct series_row *row = row_of(id, labels, &part);

	return row ? &row->words[store.series[id].at + part] : NULL;
}

static inline const union word *words(enum family_id id, const char *labels)
{
	const union word *found = find(id, labels);

	if (!found)
		fail_msg("no series %s{%s}", family_get(id)->name, labels);
	return found;
}

static inline uint64_t word(enum family_id id, const char *labels, unsigned int nr)
{
	return words(id, labels)[nr].u64;
}

static inline size_t count(enum family_id id)
{
	return series_count(&store.series[id], &store.tables[store.series[id].table]);
}

static inline uint64_t sum_of(enum family_id id, unsigned int nr)
{
	const struct series *series = &store.series[id];
	const struct series_table *table = &store.tables[series->table];
	uint64_t sum = 0;

	for (size_t i = 0; i < table->nr; i++)
		for (unsigned int part = 0; part < series_parts(series); part++)
			if (series_shows(series, table->rows[i], part))
				sum += table->rows[i]->words[series->at + part + nr].u64;
	return sum;
}

#endif
