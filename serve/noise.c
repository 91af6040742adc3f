/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds what took time from the tasks of each core to the counters, by source. */
#include "noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collectors.h"
#include "measure/noise/noise.h"
#include "present/present.h"
#include "view/prom.h"

/*
 * A gauge of one window would show a scraper one of many. So the longest is that of this period and
 * the one before: every scraper that comes once a minute sees all of them.
 */
#define PERIOD_NS (60 * NSEC_PER_SEC)

static int noise_collector_open(const struct config *config, struct meter *load,
				struct meter **ret_meter, struct err *err)
{
	struct noise_opts opts = {.load = load};

	return noise_open(&opts, ret_meter, err);
}

/* The workers of a pool come and go with new numbers; the pool stays. */
static void pool_name(const char *name, char *buf, size_t size)
{
	size_t len = strlen(name), pool = strcspn(name, ":");
	bool worker = !strncmp(name, "kworker/", strlen("kworker/")) && pool < len;
	bool high = worker && name[len - 1] == 'H';

	snprintf(buf, size, "%.*s%s", (int)(worker ? pool : len), name, high ? "H" : "");
}

static char *source_labels(struct store *store, const struct noise_window *w,
			   const struct noise_source *source)
{
	const struct series *series = &store->series[F_NOISE];
	const char *kind = noise_kind_name(source->kind);
	char cpu[24], name[sizeof(source->name)], *labels;

	snprintf(cpu, sizeof(cpu), "%u", source->cpu);
	pool_name(source->name, name, sizeof(name));
	labels = prom_labels("cpu", cpu, "kind", kind, "source", name, NULL);
	if (!labels || series->nr < w->nr_cores * NOISE_SERIES_PER_CPU ||
	    series_find(series, labels) != SERIES_NONE)
		return labels;
	free(labels);
	return prom_labels("cpu", cpu, "kind", kind, "source", "(other)", NULL);
}

/* Ends the period of a gauge, if it is over. */
static void longest_turn(union word *words, uint64_t period)
{
	uint64_t was = words[STORE_LONGEST_PERIOD].u64;

	if (was == period)
		return;
	words[STORE_LONGEST_BEFORE].u64 = was + 1 == period ? words[STORE_LONGEST_NOW].u64 : 0;
	words[STORE_LONGEST_NOW].u64 = 0;
	words[STORE_LONGEST_PERIOD].u64 = period;
	words[STORE_LONGEST_SHOWN].u64 = words[STORE_LONGEST_BEFORE].u64;
}

static void longest_add(struct series *series, const char *labels, uint64_t period, uint64_t ns)
{
	size_t row = series_row(series, labels);
	union word *words;

	if (row == SERIES_NONE)
		return;
	words = series_words(series, row);
	longest_turn(words, period);
	if (ns > words[STORE_LONGEST_NOW].u64)
		words[STORE_LONGEST_NOW].u64 = ns;
	if (ns > words[STORE_LONGEST_SHOWN].u64)
		words[STORE_LONGEST_SHOWN].u64 = ns;
}

static void absorb_losses(struct store *store, const struct noise_window *w)
{
#define LOSS(member, key) store_loss(store, "noise", #key, w->noise_losses.member);
	NOISE_LOSSES(LOSS)
	store_loss(store, "noise", "recursion_misses", w->losses.recursion_misses);
	store_loss(store, "noise", "odd_edges", w->losses.odd_edges);
}

void noise_absorb(struct store *store, const struct config *config, const struct noise_window *w)
{
	struct series *longest = &store->series[F_NOISE_LONGEST];
	uint64_t period = w->time_mono_ns / PERIOD_NS;

	for (size_t i = 0; i < w->nr_sources; i++) {
		const struct noise_source *source = &w->sources[i];
		char *labels = source_labels(store, w, source);

		if (!labels)
			continue;
		store_add(store, F_NOISE, labels, source->ns);
		store_add(store, F_NOISE_EVENTS, labels, source->count);
		longest_add(longest, labels, period, source->longest_ns);
		free(labels);
	}
	/* Those that were silent, too. */
	for (size_t row = 0; row < longest->nr; row++)
		longest_turn(series_words(longest, row), period);
	absorb_losses(store, w);
}

static void noise_collector_absorb(struct store *store, const struct config *config,
				   const struct meter *meter)
{
	noise_absorb(store, config, noise_window(meter));
}

const struct collector_ops collector_noise = {
	.name = "noise",
	.open = noise_collector_open,
	.absorb = noise_collector_absorb,
	.present = present_noise,
};
