/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds measurement windows of the wake-up latency of idle CPUs to the histograms. */
#include "serve/export/collector.h"
#include "serve/log.h"
#include "measure/wake/wake.h"
#include "stats/hist.h"

/* With `bare` no calibration runs, so the measurement overhead is not subtracted. */
static int wake_collector_open(const struct config *config, struct meter *load,
			       struct meter **ret_meter, struct err *err)
{
	struct wake_opts opts = {.sources = 1u << WAKE_PASSIVE, .bare = true, .load = load};
	int rc = wake_open(&opts, ret_meter, err);

	if (!rc && wake_window(*ret_meter)->separate_err.what[0])
		log_line("wake uses separate programs: %s",
			 wake_window(*ret_meter)->separate_err.what);
	return rc;
}

/* The histogram of the BPF program always has fine buckets: 8 buckets per power of two. */
static void add_native(const struct wake_state *s, uint64_t *words)
{
	struct hist_entry entries[HIST_NR];
	struct hist grown = {.entries = entries};

	for (unsigned int i = 0; i < HIST_NR; i++)
		hist_push(&grown, i, s->hist->count[i] - s->hist_was->count[i]);
	native_fold(&grown, 1.0, words);
}

static void absorb_state(struct store *store, const struct wake_state *s)
{
	const struct label pairs[] = {LABEL_NUMBER("cpu", s->cpu), LABEL("state", s->name)};
	const struct series *series = &store->series[F_WAKE];
	struct series_row *row = store_row(store, F_WAKE, pairs, 2);
	union word *words;

	if (!row)
		return;
	words = series_sample(series, row, 0);
	for (unsigned int i = 0; i < WAKE_NR_LE; i++)
		words[i].u64 += s->le[i];
	words[WAKE_NR_LE].u64 += s->summary.count;
	words[WAKE_NR_LE + 1].u64 += s->sum_ns;
	if (series->native.nr)
		add_native(s, &words[series->native.at].u64);
}

void wake_absorb(struct store *store, const struct wake_window *window)
{
	for (size_t i = 0; i < window->nr_states; i++)
		absorb_state(store, &window->states[i]);
#define LOSS(member, key) store_loss(store, "wake", #key, window->member);
	WAKE_LOSSES(LOSS)
}

static void wake_collector_absorb(struct store *store, const struct meter *meter)
{
	const struct wake_window *w = wake_window(meter);

	store_window(store, "wake", wake_source_names[WAKE_PASSIVE], w->time_unix_ns);
	wake_absorb(store, w);
}

const struct collector_ops collector_wake = {
	.name = "wake",
	.open = wake_collector_open,
	.absorb = wake_collector_absorb,
};
