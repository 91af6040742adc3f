/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source passive: the kernel's arrays at the start and at the end of a window. */
#ifndef SUBTICK_MEASURE_WAKE_PASSIVE_H
#define SUBTICK_MEASURE_WAKE_PASSIVE_H

#include "measure/wake/probe.h"

/* One histogram at both ends of the window; the same pointer without a wake-up in between. */
struct wake_passive_hist {
	const struct wake_hist *now, *was;
};

struct wake_passive {
	unsigned int nr_cpus;
	unsigned int nr_states; /* histograms per CPU */
	bool one_state;		/* no cpuidle driver */
	struct wake_passive_hist *hists;
	struct wake_counts *counts, *counts_prev;
	struct wake_hist (*copies)[2]; /* the current and the previous snapshot of each histogram */
};

int wake_passive_alloc(struct wake_passive *passive, const struct wake_probe *probe,
		       struct err *err);
/* Ends the window and begins the next one without a gap. Copies only histograms that changed. */
void wake_passive_end(struct wake_passive *passive, const struct wake_probe *probe);
void wake_passive_free(struct wake_passive *passive);

#endif
