/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collects increments, and the histogram of the intervals between them. */
#include "stats/counter_edges.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

void counter_edges_init(struct counter_edges *edges, uint32_t mask)
{
	*edges = (struct counter_edges){.mask = mask};
}

void counter_edges_free(struct counter_edges *edges)
{
	free(edges->stamps);
	free(edges->intervals);
	counter_edges_init(edges, edges->mask);
}

static bool append(uint64_t **array, size_t *nr, uint64_t value)
{
	uint64_t *grown = grow(*array, *nr, sizeof(*grown));

	if (!grown)
		return false;
	*array = grown;
	grown[(*nr)++] = value;
	return true;
}

static void counter_edges_note(struct counter_edges *edges, uint64_t stamp_ns, bool blurred)
{
	if (blurred) {
		edges->blurred++;
		edges->last_stamp_ns = 0;
		return;
	}
	if (!append(&edges->stamps, &edges->nr, stamp_ns) ||
	    (edges->last_stamp_ns && !append(&edges->intervals, &edges->nr_intervals,
					     stamp_ns - edges->last_stamp_ns))) {
		edges->out_of_memory = true;
		return;
	}
	edges->last_stamp_ns = stamp_ns;
}

bool counter_edges_feed(struct counter_edges *edges, const uint64_t *cols, unsigned int nr_cols,
			uint64_t stamp_ns, bool blurred)
{
	bool moved = false;

	/* Column by column: in a sum, a falling iowait could hide a rise of another column. */
	for (unsigned int i = 0; i < nr_cols && i < COUNTER_EDGES_MAX_COLS; i++) {
		if (!(edges->mask >> i & 1))
			continue;
		moved |= cols[i] != edges->last[i];
		edges->last[i] = cols[i];
	}
	if (edges->primed && moved)
		counter_edges_note(edges, stamp_ns, blurred);
	moved &= edges->primed;
	edges->primed = true;
	return moved;
}

int bins_init(struct bins *bins, uint64_t width_ns, size_t nr)
{
	*bins = (struct bins){.width_ns = width_ns, .nr = nr};
	bins->count = calloc(nr, sizeof(*bins->count));
	return bins->count ? 0 : -ENOMEM;
}

void bins_free(struct bins *bins)
{
	free(bins->count);
	bins->count = NULL;
}

void bins_add_intervals(struct bins *bins, const struct counter_edges *edges)
{
	for (size_t i = 0; i < edges->nr_intervals; i++) {
		/* Centred on multiples of the width: jitter around a tick stays in one bin. */
		size_t bin = (edges->intervals[i] + bins->width_ns / 2) / bins->width_ns;

		if (bin < bins->nr)
			bins->count[bin]++;
		else
			bins->above++;
		bins->total++;
	}
}

/* True if @bin is the highest (first of equals) within two bins; sums these up in @peak. */
static bool peak_at(const struct bins *bins, size_t bin, struct bins_peak *peak)
{
	size_t from = bin >= 2 ? bin - 2 : 0, to = bin + 2 < bins->nr ? bin + 2 : bins->nr - 1;
	double weighted = 0.0;

	*peak = (struct bins_peak){0};
	for (size_t i = from; i <= to; i++) {
		if (bins->count[i] > bins->count[bin] ||
		    (i < bin && bins->count[i] == bins->count[bin]))
			return false;
		peak->count += bins->count[i];
		weighted += (double)bins->count[i] * (double)i;
	}
	if (!peak->count)
		return false;
	peak->at_ns = weighted / (double)peak->count * (double)bins->width_ns;
	peak->share = (double)peak->count / (double)bins->total;
	return true;
}

size_t bins_peaks(const struct bins *bins, double share, struct bins_peak *peaks, size_t max)
{
	struct bins_peak peak;
	size_t nr = 0;

	for (size_t bin = 0; bin < bins->nr && nr < max; bin++)
		if (peak_at(bins, bin, &peak) && peak.share >= share)
			peaks[nr++] = peak;
	return nr;
}
