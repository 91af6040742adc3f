/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads one meter, adds its window to the counters, publishes its report. */
#include "collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "view/prom.h"

struct shared *shared_new(struct report *report)
{
	struct shared *shared = malloc(sizeof(*shared));

	if (!shared)
		return NULL;
	atomic_init(&shared->refs, 1);
	shared->report = report;
	return shared;
}

void shared_put(struct shared *shared)
{
	if (!shared || atomic_fetch_sub(&shared->refs, 1) > 1)
		return;
	report_free(shared->report);
	free(shared);
}

const struct table *collector_table(const struct report *report, const char *key)
{
	for (size_t i = 0; i < report->nr_tables; i++)
		if (!strcmp(report->tables[i]->key, key))
			return report->tables[i];
	return NULL;
}

const struct value *collector_cell(const struct table *table, size_t row, const char *key)
{
	int col = table_find(table, key);

	return table_cell(table, row, col < 0 ? SIZE_MAX : (size_t)col);
}

/* The boundaries on both sides come from the same settings; one that differs is not counted. */
void collector_histogram(struct series *series, size_t at, const struct table *le, uint64_t count,
			 uint64_t sum_ns)
{
	union word *words = series_words(series, at);
	int col_edge = le ? table_find(le, "le_ns") : -1, col_below = le ? table_find(le, "count") : -1;

	for (size_t i = 0; col_edge >= 0 && col_below >= 0 && i < le->nr_rows && i < series->nr_le;
	     i++) {
		const struct value *edge = table_cell(le, i, col_edge);
		const struct value *below = table_cell(le, i, col_below);

		if (edge->kind == VALUE_U64 && edge->u64 == series->le_ns[i] &&
		    below->kind == VALUE_U64)
			words[i].u64 += below->u64;
	}
	words[series->nr_le].u64 += count;
	words[series->nr_le + 1].u64 += sum_ns;
}

/* Every *_total of the quality is a loss, counted since the start: new ones need no code here. */
static void absorb_losses(struct store *store, const char *name, const struct report *report)
{
	static const char suffix[] = "_total";
	const struct table *quality = report->quality;

	for (size_t i = 0; quality->nr_rows && i < quality->nr_cols; i++) {
		const struct value *value = table_cell(quality, 0, i);
		size_t len = strlen(quality->cols[i].key);
		char kind[64], *labels;

		if (value->kind != VALUE_U64 || len >= sizeof(kind) || len < sizeof(suffix) ||
		    strcmp(quality->cols[i].key + len - sizeof(suffix) + 1, suffix))
			continue;
		memcpy(kind, quality->cols[i].key, len + 1);
		kind[len - sizeof(suffix) + 1] = '\0';
		labels = prom_labels("collector", name, "kind", kind, NULL);
		store_set(store, F_LOSS, labels, value->u64);
		free(labels);
	}
}

static void absorb_all(struct collector *c, struct store *store, const struct config *config,
		       const struct report *report, uint64_t cost_ns)
{
	char *labels = prom_labels("collector", c->ops->name, NULL);
	char *source = prom_labels("collector", c->ops->name, "source",
				   report && report->source ? report->source : "", NULL);

	store_set(store, F_UP, labels, report != NULL);
	store_add(store, F_UPDATE_COST, labels, cost_ns);
	if (report) {
		store_add(store, F_UPDATES, labels, 1);
		store_set(store, F_UPDATE_TIME, labels, report->time_unix_ns);
		store_set(store, F_SOURCE, source, 1);
		c->ops->absorb(store, config, c->meter, report);
		absorb_losses(store, c->ops->name, report);
	}
	store->generation++;
	free(labels);
	free(source);
}

int collector_update(struct collector *c, struct store *store, const struct config *config,
		     struct err *err)
{
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct shared *fresh = NULL, *old = NULL;
	struct report *report = NULL;
	int rc;

	rc = c->meter->ops->read(c->meter, &report, err);
	if (!rc) {
		fresh = shared_new(report);
		if (!fresh) {
			report_free(report);
			rc = err_set(err, -ENOMEM, "out of memory");
			report = NULL;
		}
	}
	pthread_mutex_lock(&store->lock);
	absorb_all(c, store, config, report, clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns);
	if (fresh) {
		old = c->last;
		c->last = fresh;
	}
	pthread_mutex_unlock(&store->lock);
	shared_put(old);
	return rc;
}

struct shared *collector_last(struct collector *c, struct store *store)
{
	struct shared *last;

	pthread_mutex_lock(&store->lock);
	last = c->last;
	if (last)
		atomic_fetch_add(&last->refs, 1);
	pthread_mutex_unlock(&store->lock);
	return last;
}
