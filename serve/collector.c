/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads one meter and adds its window to the counters; builds the report of a window on request. */
#include "collector.h"

#include "base/clock.h"
#include "base/hash.h"

int collector_update(struct collector *c, struct store *store, const struct config *config,
		     struct err *err)
{
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct series_row *row;
	int rc;

	pthread_mutex_lock(&c->lock);
	rc = c->meter->ops->read(c->meter, err);
	c->readable = !rc;
	c->window_seq += !rc;
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_lock(&store->lock);
	row = store_row(store, STORE_COLLECTORS, labels_hash(HASH_START, c->ops->name),
			&(struct label){"collector", c->ops->name}, 1);
	row_set(row, COLLECTOR_UP, !rc);
	if (!rc) {
		row_add(row, COLLECTOR_UPDATES, 1);
		c->ops->absorb(store, config, c->meter);
	}
	row_add(row, COLLECTOR_COST, clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns);
	store_window_added(store);
	pthread_mutex_unlock(&store->lock);
	return rc;
}

const struct report *collector_report(struct collector *c)
{
	struct report *report = NULL;

	pthread_mutex_lock(&c->lock);
	if (c->readable && (!c->report || c->report_seq != c->window_seq)) {
		if (!c->ops->present(c->meter, &report)) {
			report_free(c->report);
			c->report = report;
			c->report_seq = c->window_seq;
		}
	}
	pthread_mutex_unlock(&c->lock);
	return c->report;
}

void collector_forget_report(struct collector *c)
{
	report_free(c->report);
	c->report = NULL;
}
