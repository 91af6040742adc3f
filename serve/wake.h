/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passive wake latency as counters. */
#ifndef SUBTICK_SERVE_WAKE_H
#define SUBTICK_SERVE_WAKE_H

#include "config.h"
#include "measure/wake/wake.h"
#include "store.h"

/* Adds the wake-ups of one window. */
void wake_absorb(struct store *store, const struct config *config,
		 const struct wake_window *window);

#endif
