/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of an exporter with its default settings, for one test after the other. */
#ifndef SUBTICK_TESTS_UNIT_SERVE_STORE_H
#define SUBTICK_TESTS_UNIT_SERVE_STORE_H

#include "serve/config.h"
#include "serve/store.h"
#include "test.h"

static struct config config;
static struct store store;

static int setup(void **state)
{
	return config_init(&config) || store_init(&store, config.le_ns, config.nr_le);
}

static int teardown(void **state)
{
	store_free(&store);
	config_free(&config);
	return 0;
}

/* The words of a series, which must be there. */
static inline const union word *words(enum family_id id, const char *labels)
{
	size_t row = series_find(&store.series[id], labels);

	if (row == SERIES_NONE)
		fail_msg("no series %s{%s}", family_get(id)->name, labels);
	return series_words(&store.series[id], row);
}

#endif
