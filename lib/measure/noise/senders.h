/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* IPIs between two readings by sender and target, and the functions called with them. */
#ifndef SUBTICK_MEASURE_NOISE_SENDERS_H
#define SUBTICK_MEASURE_NOISE_SENDERS_H

#include "base/cpuset.h"
#include "measure/noise/window.h"

struct noise_senders {
	unsigned int nr_cpus;
	const struct noise_sends *live; /* by sending CPU, mapped. NULL: not requested */
	struct noise_sends *was;	/* as read last */
	struct noise_sent ipis, calls;
};

int noise_senders_open(struct noise_senders *senders, const struct noise_sends *live,
		       unsigned int nr_cpus);
void noise_senders_close(struct noise_senders *senders);
/* Lists everything sent to @cpus since the last reading, at the end of window @turn. */
void noise_senders_read(struct noise_senders *senders, const struct cpuset *cpus, uint64_t turn);

#endif
