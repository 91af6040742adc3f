/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load windows as counters. */
#ifndef SUBTICK_SERVE_LOAD_H
#define SUBTICK_SERVE_LOAD_H

#include "config.h"
#include "measure/load/window.h"
#include "store.h"

/* Adds a window to the counters, with the store's lock held. */
void load_absorb(struct store *store, const struct config *config,
		 const struct load_window *window);

#endif
