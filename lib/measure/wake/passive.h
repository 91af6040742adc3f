/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of the passive source: what the kernel's arrays held as one ended and as it began. */
#ifndef SUBTICK_MEASURE_WAKE_PASSIVE_H
#define SUBTICK_MEASURE_WAKE_PASSIVE_H

#include "measure/wake/probe.h"

struct wake_window {
	unsigned int nr_cpus, nr_states;
	struct wake_hist *hists, *hists_prev;
	struct wake_counts *counts, *counts_prev;
};

int wake_window_alloc(struct wake_window *window, const struct wake_probe *probe, struct err *err);
/*
 * One copy ends a window; after next() the same copy begins the following one, so that no event
 * falls in between.
 */
void wake_window_end(struct wake_window *window, const struct wake_probe *probe);
void wake_window_next(struct wake_window *window);
void wake_window_free(struct wake_window *window);

#endif
