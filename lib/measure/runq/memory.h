/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much kernel memory the runq programs take, by formula. */
#ifndef SUBTICK_MEASURE_RUNQ_MEMORY_H
#define SUBTICK_MEASURE_RUNQ_MEMORY_H

#include "measure/runq/chunks.h"

/* What else the size of maps depends on. */
struct runq_sizes {
	size_t nr_slots; /* in all chunks */
	bool fixed;	 /* there will be no more of them */
	bool blame;
	bool wakeup; /* source wakeup */
};

uint64_t runq_memory(const struct runq_shape *shape, const struct runq_sizes *sizes);

#endif
