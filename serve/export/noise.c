/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds the time of interrupts, softirqs and kernel threads on each CPU to the counters. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "serve/export/collector.h"
#include "measure/noise/noise.h"
#include "stats/hist.h"

/*
 * Period of the gauges that show a maximum. A gauge covers the current and the previous period, so
 * a scrape interval of one minute misses no maximum.
 */
#define PERIOD_NS (60 * NSEC_PER_SEC)

static int noise_collector_open(const struct config *config, struct meter *load,
				struct meter **ret_meter, struct err *err)
{
	struct noise_opts opts = {.load = load};

	return noise_open(&opts, ret_meter, err);
}

/* Labels a kworker with its worker pool, because the kernel creates and ends workers frequently. */
static void pool_name(const char *name, char *buf)
{
	size_t len = strlen(name), end = strcspn(name, ":");

	memcpy(buf, name, len + 1);
	if (end == len || strncmp(name, "kworker/", strlen("kworker/")))
		return;
	if (name[len - 1] == 'H')
		buf[end++] = 'H';
	buf[end] = '\0';
}

static struct series_row *source_row(struct store *store, const struct noise_window *w,
				     const struct noise_source *source)
{
	const struct series_table *table = &store->tables[F_NOISE];
	char name[sizeof(source->name)];
	const struct label pairs[] = {LABEL_NUMBER("cpu", source->cpu),
				      LABEL("kind", noise_kind_name(source->kind)),
				      LABEL("source", name)};

	pool_name(source->name, name);
	if (table->nr >= w->nr_cores * NOISE_SERIES_PER_CPU &&
	    !series_find(table, labels_hash(pairs, 3), NULL))
		snprintf(name, sizeof(name), "(other)");
	return store_row(store, F_NOISE, pairs, 3);
}

/* Starts a new period of a maximum gauge if the period stored in @words is not @period. */
static void longest_rotate(union word *words, uint64_t period)
{
	uint64_t was = words[STORE_LONGEST_PERIOD].u64;

	if (was == period)
		return;
	words[STORE_LONGEST_SHOWN].u64 = was + 1 == period ? words[STORE_LONGEST_NOW].u64 : 0;
	words[STORE_LONGEST_NOW].u64 = 0;
	words[STORE_LONGEST_PERIOD].u64 = period;
}

static void longest_add(union word *words, uint64_t period, uint64_t ns)
{
	longest_rotate(words, period);
	if (ns > words[STORE_LONGEST_NOW].u64)
		words[STORE_LONGEST_NOW].u64 = ns;
	if (ns > words[STORE_LONGEST_SHOWN].u64)
		words[STORE_LONGEST_SHOWN].u64 = ns;
}

/* Starts a new period for all gauges of a family, including gauges without an event. */
static void longest_expire(struct store *store, enum family_id id, uint64_t period)
{
	const struct series_table *table = &store->tables[store->series[id].table];

	for (size_t i = 0; i < table->nr; i++)
		longest_rotate(series_sample(&store->series[id], table->rows[i], 0), period);
}

/*
 * The exported counts are exact: each boundary is one ns below a power of two, where a bucket of
 * the BPF program's histogram ends.
 */
static void absorb_delay_hist(struct store *store, unsigned int vec,
			      const uint64_t hist[NOISE_NR_BUCKETS], const struct noise_times *sum)
{
	const struct series *series = &store->series[F_SOFTIRQ_DELAY];
	const struct label vector = LABEL("vec", load_vec_name(vec));
	struct series_row *row = store_row(store, F_SOFTIRQ_DELAY, &vector, 1);
	union word *words = row ? series_sample(series, row, 0) : NULL;
	uint64_t below = 0;
	unsigned int bucket = 0;

	for (unsigned int i = 0; words && i < series->nr_le; i++) {
		while (bucket < hist_index(series->le_ns[i] + 1) >> NOISE_BUCKET_SHIFT)
			below += hist[bucket++];
		words[i].u64 += below;
	}
	if (words) {
		words[series->nr_le].u64 += sum->count;
		words[series->nr_le + 1].u64 += sum->ns;
	}
}

static void absorb_delays(struct store *store, const struct noise_window *w, uint64_t period)
{
	const struct series *longest = &store->series[F_SOFTIRQ_DELAY_LONGEST];
	struct noise_times sums[LOAD_NR_VECS] = {0};

	array_for_each(delay, w->delays, w->nr_delays) {
		const struct label pairs[] = {LABEL_NUMBER("cpu", delay->cpu),
					      LABEL("vec", load_vec_name(delay->vec))};
		struct series_row *row = store_row(store, F_SOFTIRQ_DELAY_LONGEST, pairs, 2);

		sums[delay->vec].count += delay->times.count;
		sums[delay->vec].ns += delay->times.ns;
		if (row)
			longest_add(series_sample(longest, row, 0), period, delay->times.longest_ns);
	}
	for (unsigned int vec = 0; vec < LOAD_NR_VECS; vec++)
		if (sums[vec].count)
			absorb_delay_hist(store, vec, w->delay_hist[vec], &sums[vec]);
	longest_expire(store, F_SOFTIRQ_DELAY_LONGEST, period);
}

static void absorb_losses(struct store *store, const struct noise_window *w)
{
#define LOSS(member, key) store_loss(store, "noise", #key, w->noise_losses.member);
	NOISE_LOSSES(LOSS)
	store_loss(store, "noise", "recursion_misses", w->losses.recursion_misses);
	store_loss(store, "noise", "odd_edges", w->losses.odd_edges);
}

void noise_absorb(struct store *store, const struct noise_window *w)
{
	const struct series *longest = &store->series[F_NOISE_LONGEST];
	uint64_t period = w->time_mono_ns / PERIOD_NS;

	array_for_each(source, w->sources, w->nr_sources) {
		struct series_row *row = source_row(store, w, source);

		if (!row)
			continue;
		store_sample(store, row, F_NOISE, 0)->u64 += source->ns;
		store_sample(store, row, F_NOISE_EVENTS, 0)->u64 += source->count;
		longest_add(series_sample(longest, row, 0), period, source->longest_ns);
	}
	longest_expire(store, F_NOISE_LONGEST, period);
	absorb_delays(store, w, period);
	absorb_losses(store, w);
}

static void noise_collector_absorb(struct store *store, const struct meter *meter)
{
	const struct noise_window *w = noise_window(meter);

	store_window(store, "noise", "bpf", w->time_unix_ns);
	noise_absorb(store, w);
}

const struct collector_ops collector_noise = {
	.name = "noise",
	.optional = true,
	.open = noise_collector_open,
	.absorb = noise_collector_absorb,
};
