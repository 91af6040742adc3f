/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source nic: time from the launch time of a packet until the card sends the packet. */
#ifndef SUBTICK_MEASURE_WAKE_DMA_H
#define SUBTICK_MEASURE_WAKE_DMA_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct journal;

/*
 * DMA time (equation 9 in docs/methods/wake.md), by the card's clock; nr is 0 if the time is
 * unknown.
 */
struct wake_dma {
	int64_t median_ns, half_spread_ns; /* spread: half of p90 − p10 */
	size_t nr;
	struct err unknown; /* reason why the time is unknown */
};

/* Network device whose queue supports launch times, and its hardware clock. */
struct wake_dma_card {
	const char *device;
	int ifindex;
	int phc;
};

/*
 * Sends packets with launch times and reads the card's transmit timestamps. The package cannot
 * sleep meanwhile, because the calling core is busy. Without timestamps, returns 0 with the reason
 * in ret_dma->unknown. @journal restores the timestamp setting of the card if subtick is killed.
 */
int wake_dma_measure(const struct wake_dma_card *card, struct journal *journal,
		     struct wake_dma *ret_dma, struct err *err);

#endif
