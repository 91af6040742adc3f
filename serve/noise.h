/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of noise as counters, and the longest at once. */
#ifndef SUBTICK_SERVE_NOISE_H
#define SUBTICK_SERVE_NOISE_H

#include "config.h"
#include "measure/noise/window.h"
#include "store.h"

/* Series of each counter, for each core on average; what comes later is in the source (other). */
#define NOISE_SERIES_PER_CPU 128

/* Adds a window to the counters, with the store's lock held. */
void noise_absorb(struct store *store, const struct config *config,
		  const struct noise_window *window);

#endif
