/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a window of run-queue latency becomes counters. */
#ifndef SUBTICK_SERVE_RUNQ_H
#define SUBTICK_SERVE_RUNQ_H

#include "config.h"
#include "measure/runq/window.h"
#include "store.h"

/* Adds groups and blame of a window to the counters, with the store's lock held. */
void runq_absorb(struct store *store, const struct config *config,
		 const struct runq_window *window);

#endif
