/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source remote: a thread on another core wakes the measured one. */
#ifndef SUBTICK_MEASURE_WAKE_REMOTE_H
#define SUBTICK_MEASURE_WAKE_REMOTE_H

#include "base/cpuset.h"
#include "measure/wake/worker.h"

extern const struct wake_source_ops wake_remote_ops;

/* Serves the workers of @targets until told to stop; runs on a core that is not measured. */
struct wake_sender {
	unsigned int cpu;
	const struct cpuset *targets;
	struct wake_worker *workers;
	unsigned int nr_workers;
	atomic_bool *run_stop; /* the run's: without a sender the workers would wait for ever */
	bool moved;	       /* its core went offline, which ended the run */
	atomic_bool stop;
	pthread_t thread;
	struct err err;
};

int wake_sender_start(struct wake_sender *sender, struct err *err);
void wake_sender_stop(struct wake_sender *sender);

#endif
