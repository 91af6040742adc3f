/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source nic: time from the launch time of a packet until the card sends the packet. */
#ifndef SUBTICK_MEASURE_WAKE_DMA_H
#define SUBTICK_MEASURE_WAKE_DMA_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct journal;

/*
 * DMA read time by the card's clock (equation 9 in docs/methods/wake.md). If `nr` is 0, the DMA
 * read time is unknown.
 */
struct wake_dma {
	/* median of the DMA read time, and half of its p90 − p10 */
	int64_t median_ns, half_spread_ns;
	size_t nr;
	struct err unknown; /* reason why the DMA read time is unknown */
};

/* Network device whose queue supports launch times, and its hardware clock. */
struct wake_dma_card {
	const char *device;
	int ifindex;
	int phc;
};

/*
 * Sends packets with launch times and reads their transmit timestamps. Keeps the calling core busy,
 * so that the package does not sleep. If the card returns no transmit timestamps, returns 0 and
 * sets ret_dma->unknown to the reason. @journal restores the timestamp setting of the card if
 * subtick is killed.
 */
int wake_dma_measure(const struct wake_dma_card *card, struct journal *journal,
		     struct wake_dma *ret_dma, struct err *err);

#endif
