/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source passive: the kernel's arrays as they were when a window began and when it ended. */
#ifndef SUBTICK_MEASURE_WAKE_PASSIVE_H
#define SUBTICK_MEASURE_WAKE_PASSIVE_H

#include "measure/wake/probe.h"

struct wake_passive {
	unsigned int nr_cpus;
	unsigned int nr_states; /* rows per CPU in hists */
	bool one_state;		/* no cpuidle driver */
	struct wake_hist *hists, *hists_prev;
	struct wake_counts *counts, *counts_prev;
};

int wake_passive_alloc(struct wake_passive *passive, const struct wake_probe *probe,
		       struct err *err);
/*
 * end() copies the arrays. After next() the same copy begins the following window: no gap.
 */
void wake_passive_end(struct wake_passive *passive, const struct wake_probe *probe);
void wake_passive_next(struct wake_passive *passive);
void wake_passive_free(struct wake_passive *passive);

#endif
