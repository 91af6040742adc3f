/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens meters, adds their windows to the counters, builds the report of a window on request. */
#include "collector.h"

#include <string.h>

#include "base/clock.h"

#define COLLECTOR_ENTRY(name) &collector_##name,
static const struct collector_ops *const entries[] = {COLLECTORS(COLLECTOR_ENTRY)};

size_t collector_count(void)
{
	return CONFIG_NR_COLLECTORS;
}

int collectors_open(struct collector *collectors, const struct config *config, struct err *err)
{
	int rc = 0;

	memset(collectors, 0, CONFIG_NR_COLLECTORS * sizeof(*collectors));
	for (size_t i = 0; !rc && i < CONFIG_NR_COLLECTORS; i++) {
		collectors[i].ops = entries[i];
		pthread_mutex_init(&collectors[i].lock, NULL);
		if (!(config->collect >> i & 1))
			continue;
		/* load is the first in the list, so it is open before the others. */
		rc = entries[i]->open(config, collectors[CONFIG_COLLECT_load].meter,
				      &collectors[i].meter, err);
		if (!rc)
			rc = collectors[i].meter->ops->start(collectors[i].meter, err);
		if (rc)
			err_prefix(err, "%s", entries[i]->name);
	}
	if (rc)
		collectors_close(collectors);
	return rc;
}

void collectors_close(struct collector *collectors)
{
	for (size_t i = 0; i < CONFIG_NR_COLLECTORS; i++) {
		if (collectors[i].meter)
			collectors[i].meter->ops->close(collectors[i].meter);
		collector_forget_report(&collectors[i]);
		collectors[i].meter = NULL;
	}
}

int collector_update(struct collector *c, struct store *store, struct err *err)
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
	store_sample(store, row, F_UP, 0)->u64 = !rc;
	if (!rc) {
		store_sample(store, row, F_UPDATES, 0)->u64++;
		c->ops->absorb(store, c->meter);
	}
	store_sample(store, row, F_UPDATE_COST, 0)->u64 +=
		clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	store_window_added(store);
	pthread_mutex_unlock(&store->lock);
	return rc;
}

const struct report *collector_report(struct collector *c)
{
	struct report *report = NULL;

	pthread_mutex_lock(&c->lock);
	if (c->readable && (!c->report || c->report_seq != c->window_seq) &&
	    !c->ops->present(c->meter, &report)) {
		report_free(c->report);
		c->report = report;
		c->report_seq = c->window_seq;
	}
	pthread_mutex_unlock(&c->lock);
	return c->report;
}

void collector_forget_report(struct collector *c)
{
	report_free(c->report);
	c->report = NULL;
}
