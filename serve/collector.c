/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads one meter, adds its window to the counters, publishes its report. */
#include "collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"

static struct shared *shared_new(struct report *report)
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

static void absorb_all(struct collector *c, struct store *store, const struct config *config,
		       const struct report *report, uint64_t cost_ns)
{
	const struct label pairs[] = {{"collector", c->ops->name},
				      {"source", report && report->source ? report->source : ""}};
	uint64_t key = labels_hash(HASH_START, c->ops->name);
	struct series_row *row = store_row(store, STORE_COLLECTORS, key, pairs, 1);

	row_set(row, COLLECTOR_UP, report != NULL);
	row_add(row, COLLECTOR_COST, cost_ns);
	if (report) {
		row_add(row, COLLECTOR_UPDATES, 1);
		row_set(row, COLLECTOR_TIME, report->time_unix_ns);
		row_set(store_row(store, STORE_SOURCES, labels_hash(key + 1, pairs[1].value), pairs,
				  2), 0, 1);
		c->ops->absorb(store, config, c->meter);
	}
	store_window_added(store);
}

int collector_update(struct collector *c, struct store *store, const struct config *config,
		     struct err *err)
{
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct shared *fresh, *old = NULL;
	struct report *report = NULL;
	int rc;

	rc = c->meter->ops->read(c->meter, err);
	if (!rc)
		rc = c->ops->present(c->meter, &report) ? err_set(err, -ENOMEM, "out of memory") : 0;
	fresh = rc ? NULL : shared_new(report);
	if (!rc && !fresh) {
		report_free(report);
		rc = err_set(err, -ENOMEM, "out of memory");
		report = NULL;
	}
	pthread_mutex_lock(&store->lock);
	absorb_all(c, store, config, report, clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns);
	if (fresh) {
		fresh->generation = store->generation;
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
