/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Increments and the histogram of the intervals between them. */
#include "stats/incr.h"

#include <errno.h>
#include <stdlib.h>

void incr_init(struct incr *incr, uint32_t mask)
{
	*incr = (struct incr){.mask = mask};
}

void incr_free(struct incr *incr)
{
	free(incr->stamps);
	free(incr->intervals);
	incr_init(incr, incr->mask);
}

static bool incr_grow(struct incr *incr)
{
	size_t room = incr->room ? 2 * incr->room : 1024;
	uint64_t *stamps, *intervals;

	stamps = reallocarray(incr->stamps, room, sizeof(*stamps));
	if (stamps)
		incr->stamps = stamps;
	intervals = reallocarray(incr->intervals, room, sizeof(*intervals));
	if (intervals)
		incr->intervals = intervals;
	if (!stamps || !intervals)
		return false;
	incr->room = room;
	return true;
}

static void incr_note(struct incr *incr, uint64_t stamp_ns, bool blurred)
{
	if (blurred) {
		incr->blurred++;
		incr->last_stamp_ns = 0;
		return;
	}
	if (incr->nr == incr->room && !incr_grow(incr)) {
		incr->out_of_memory = true;
		return;
	}
	if (incr->last_stamp_ns)
		incr->intervals[incr->nr_intervals++] = stamp_ns - incr->last_stamp_ns;
	incr->stamps[incr->nr++] = stamp_ns;
	incr->last_stamp_ns = stamp_ns;
}

bool incr_feed(struct incr *incr, const uint64_t *cols, unsigned int nr_cols, uint64_t stamp_ns,
	       bool blurred)
{
	bool moved = false;

	/* Column by column: in a sum, iowait going back could hide another going on. */
	for (unsigned int i = 0; i < nr_cols && i < INCR_MAX_COLS; i++) {
		if (!(incr->mask >> i & 1))
			continue;
		moved |= cols[i] != incr->last[i];
		incr->last[i] = cols[i];
	}
	if (incr->primed && moved)
		incr_note(incr, stamp_ns, blurred);
	moved &= incr->primed;
	incr->primed = true;
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

/* Centred on multiples of the width, so that jitter around a tick does not fall into two bins. */
void bins_add(struct bins *bins, uint64_t value_ns)
{
	size_t bin = (value_ns + bins->width_ns / 2) / bins->width_ns;

	if (bin < bins->nr)
		bins->count[bin]++;
	else
		bins->above++;
	bins->total++;
}

void bins_add_intervals(struct bins *bins, const struct incr *incr)
{
	for (size_t i = 0; i < incr->nr_intervals; i++)
		bins_add(bins, incr->intervals[i]);
}

/* Bins within two of @bin, and whether it is the top of them; the first of equals is. */
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
