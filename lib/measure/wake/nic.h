/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source nic: a network card sends a packet at a launch time, and its interrupt wakes the core. */
#ifndef SUBTICK_MEASURE_WAKE_NIC_H
#define SUBTICK_MEASURE_WAKE_NIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/wake/window.h"
#include "measure/wake/worker.h"

struct journal;

struct wake_nic_opts {
	const char *device; /* network device, or NULL for the first suitable device */
	/* time from the end of the DMA read to the interrupt; see wake_nic_offset() */
	int64_t irq_offset_ns;
	/* DMA read time, see wake_nic_offset(); negative if the time must be measured */
	int64_t dma_ns;
	bool software;	/* true for ETF without offload: a kernel timer sends the packets */
};

/*
 * Sets the IRQ affinity of the card to @cpu, the first measured CPU, and configures the card's
 * queue. @journal restores both settings.
 */
int wake_nic_open(const struct wake_nic_opts *opts, unsigned int cpu, const char *root,
		  struct journal *journal, struct wake_nic **ret_nic, struct err *err);
/* Moves the card's interrupts to @cpu. Must be called before the wake-ups of @cpu are measured. */
int wake_nic_aim(struct wake_nic *nic, unsigned int cpu, struct err *err);
void wake_nic_close(struct wake_nic *nic);

void wake_nic_card(const struct wake_nic *nic, struct wake_card *ret_card);

#endif
