/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source nic: how long the card needs from the launch time of a packet until it is sent. */
#ifndef SUBTICK_MEASURE_WAKE_DMA_H
#define SUBTICK_MEASURE_WAKE_DMA_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct journal;

/* DMA of equation 9, in the card's own clock; nr is 0 if it is unknown. */
struct wake_dma {
	int64_t median_ns, half_spread_ns; /* half of the 10th to the 90th percentile */
	size_t nr;
	struct err unknown; /* why */
};

/* A device whose queue takes launch times, and its clock. */
struct wake_dma_card {
	const char *device;
	int ifindex;
	int phc;
};

/*
 * Sends packets with launch times while this core keeps the package awake, and takes the stamps of the card. A
 * card that does not stamp is no error: ret_dma->unknown says why. @journal restores the card's setting if we die.
 */
int wake_dma_measure(const struct wake_dma_card *card, struct journal *journal,
		     struct wake_dma *ret_dma, struct err *err);

#endif
