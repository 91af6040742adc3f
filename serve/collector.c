/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads one meter and adds its window to the counters; builds the report of a window on request. */
#include "collector.h"

#include "base/clock.h"

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
	row = store_row(store, F_UP, &(struct label)LABEL("collector", c->ops->name), 1);
	store_set(store, row, F_UP, 0, !rc);
	if (!rc) {
		store_add(store, row, F_UPDATES, 0, 1);
		c->ops->absorb(store, config, c->meter);
	}
	store_add(store, row, F_UPDATE_COST, 0, clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns);
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
