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
	/* It sleeps until then, or until somebody changes the word; 0: it is awake and will look. */
	atomic_uint_fast64_t until_ns;
	atomic_uint asked;
	pthread_t thread;
	struct err err;
};

/*
 * The CPU to send from: one that is not measured, in another package if there is one, because a
 * sender that is awake keeps its package awake. CPUSET_MAX if all are measured.
 */
unsigned int wake_sender_choose(const char *root, const struct cpuset *online,
				const struct cpuset *measured);
/* Whether @cpu is in the package of a measured core, or that is unknown. */
bool wake_sender_near(const char *root, unsigned int cpu, const struct cpuset *measured);

int wake_sender_start(struct wake_sender *sender, struct err *err);
void wake_sender_stop(struct wake_sender *sender);

#endif
