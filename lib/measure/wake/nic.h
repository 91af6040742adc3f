/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source nic: a card sends a packet on time by its own clock; its interrupt wakes the core. */
#ifndef SUBTICK_MEASURE_WAKE_NIC_H
#define SUBTICK_MEASURE_WAKE_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/wake/window.h"
#include "measure/wake/worker.h"

struct journal;

struct wake_nic_opts {
	const char *device;    /* network device; NULL: the first that fits */
	int64_t irq_offset_ns; /* from the end of the DMA read to the interrupt, equations 8 and 9 */
	int64_t dma_ns;	       /* DMA read time, subtracted in shallow states (9); negative: measure it */
	bool software;		/* ETF without offload: a kernel timer sends, no card is measured */
};

/*
 * Sets the card's IRQ affinity to @cpu, measured first, and its queue, through @journal.
 * @max_batch: points between two readings of the clock.
 */
int wake_nic_open(const struct wake_nic_opts *opts, size_t max_batch, unsigned int cpu,
		  const char *root, struct journal *journal, struct wake_nic **ret_nic,
		  struct err *err);
/* Before the points of another core. */
int wake_nic_aim(struct wake_nic *nic, unsigned int cpu, struct err *err);
void wake_nic_close(struct wake_nic *nic);

/* Facts about the card for the window. */
void wake_nic_card(const struct wake_nic *nic, struct wake_card *ret_card);

#endif
