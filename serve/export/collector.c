/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens collectors, adds their windows to counters, and builds reports on request. */
#include "serve/export/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/load/load.h"
#include "measure/noise/noise.h"
#include "measure/runq/runq.h"
#include "measure/wake/wake.h"
#include "present/overview.h"
#include "serve/log.h"

#define COLLECTOR_ENTRY(name) &collector_##name,
static const struct collector_ops *const entries[] = {COLLECTORS(COLLECTOR_ENTRY)};

int collector_index(const char *name)
{
	for (int i = 0; i < CONFIG_NR_COLLECTORS; i++)
		if (!strcmp(entries[i]->name, name))
			return i;
	return -1;
}

static int open_one(struct collector *c, enum config_collect id, const struct config *config,
		    struct meter *load, struct err *err)
{
	int rc;

	if (!config_collects(config, id))
		return err_unsupported(
			err, -ENOMEM, "raise the memory limit",
			"all BPF maps and series would take more than half of the memory");
	rc = c->ops->open(config, load, &c->meter, err);
	if (!rc)
		rc = c->meter->ops->start(c->meter, err);
	if (rc && c->meter)
		c->meter->ops->close(c->meter);
	if (rc)
		c->meter = NULL;
	return rc;
}

int collectors_open(struct collectors *all, const struct config *config, struct err *err)
{
	struct overview_window *windows = &all->windows;
	int rc = 0;

	memset(all, 0, sizeof(*all));
	pthread_mutex_init(&all->lock, NULL);
	windows->settings = calloc(OVERVIEW_CGROUPS, sizeof(*windows->settings));
	if (!windows->settings)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !rc && i < CONFIG_NR_COLLECTORS; i++) {
		struct collector *c = &all->list[i];

		c->ops = entries[i];
		if (!(config->collect >> i & 1))
			continue;
		/* Collector load is the first, so its meter is already open. */
		rc = open_one(c, i, config, all->list[CONFIG_COLLECT_load].meter, err);
		if (rc && c->ops->optional && config->collect != 1u << i) {
			log_line("%s is not collected: %s%s%s", c->ops->name, err->what,
				 err->fix[0] ? "; fix: " : "", err->fix);
			c->refused = *err;
			*err = (struct err){0};
			rc = 0;
		}
		if (rc)
			err_prefix(err, "%s", c->ops->name);
	}
	if (rc) {
		collectors_close(all);
		return rc;
	}
	if (all->list[CONFIG_COLLECT_runq].meter)
		windows->runq = runq_window(all->list[CONFIG_COLLECT_runq].meter);
	overview_find_mounts(windows);
	return 0;
}

void collectors_close(struct collectors *all)
{
	array_for_each(c, all->list, CONFIG_NR_COLLECTORS) {
		if (c->meter)
			c->meter->ops->close(c->meter);
		collector_forget_report(c);
		c->meter = NULL;
	}
	free(all->windows.settings);
	all->windows.settings = NULL;
}

void collectors_add_refused(const struct collectors *all, struct store *store)
{
	for (size_t i = 0; i < CONFIG_NR_COLLECTORS; i++) {
		const struct label name = LABEL("collector", entries[i]->name);

		if (all->list[i].refused.code)
			store_sample(store, store_row(store, F_UP, &name, 1), F_UP, 0)->u64 = 0;
	}
}

int collector_update(struct collector *c, struct store *store, struct err *err)
{
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct series_row *row;
	int rc = c->meter->ops->read(c->meter, err);

	c->readable = !rc;
	c->window_seq += !rc;
	pthread_mutex_lock(&store->lock);
	row = store_row(store, F_UP, &(struct label)LABEL("collector", c->ops->name), 1);
	store_sample(store, row, F_UP, 0)->u64 = !rc;
	if (!rc) {
		store_sample(store, row, F_UPDATES, 0)->u64++;
		c->ops->absorb(store, c->meter);
	}
	store_sample(store, row, F_UPDATE_COST, 0)->u64 +=
		clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	store_reclaim(store);
	pthread_mutex_unlock(&store->lock);
	return rc;
}

static struct report *build(struct collectors *all, enum config_collect id)
{
	static const enum overview_part parts[] = {
		[CONFIG_COLLECT_load] = OVERVIEW_LOAD,
		[CONFIG_COLLECT_runq] = OVERVIEW_RUNQ,
		[CONFIG_COLLECT_wake] = OVERVIEW_WAKE,
		[CONFIG_COLLECT_noise] = OVERVIEW_NOISE,
	};
	struct overview_window *windows = &all->windows;
	struct report *report = NULL;

#define WINDOW(noun)                                                        \
	windows->noun = all->list[CONFIG_COLLECT_##noun].readable ?          \
				noun##_window(all->list[CONFIG_COLLECT_##noun].meter) : \
				NULL;
	COLLECTORS(WINDOW)
	if (id == CONFIG_COLLECT_runq && windows->load)
		overview_read_settings(windows);
	return overview_part_report(windows, parts[id], false, &report) ? NULL : report;
}

const struct report *collector_report(struct collectors *all, enum config_collect id)
{
	struct collector *c = &all->list[id];
	struct report *report = NULL;

	pthread_mutex_lock(&all->lock);
	if (c->readable && (!c->report || c->report_seq != c->window_seq))
		report = build(all, id);
	if (report) {
		collector_forget_report(c);
		c->report = report;
		c->report_seq = c->window_seq;
	}
	pthread_mutex_unlock(&all->lock);
	return c->report;
}

void collector_forget_report(struct collector *c)
{
	report_free(c->report);
	c->report = NULL;
	for (int gzip = 0; gzip < 2; gzip++) {
		body_put(c->json[gzip]);
		c->json[gzip] = NULL;
	}
}
